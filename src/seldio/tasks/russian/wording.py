"""How Russian questions are worded; a wording is right for every class because verbs and cases come with the noun.

``{x}`` and ``{y}`` are nouns in the nominative, with ``_gen``, ``_acc`` and ``_with`` in other cases;
``{x_heard}``, ``{x_sounds}`` and ``{x_lasts}`` are verbs that agree with x (see
:class:`seldio.tasks.russian.nouns.Noun`).
"""

from __future__ import annotations

from seldio.formats.ruenvaqa import option_lines, template
from seldio.tasks.margins import Margins

YES, NO = "да", "нет"
ONE, SEVERAL = "один", "несколько"
LETTERS = "ABCD"

SINGLE = (
    "{x_Sounds} ли на записи {x}?",
    "{x_Heard} ли на записи {x}?",
    "Можно ли услышать на записи {x_acc}?",
    "Верно ли, что на записи {x_heard} {x}?",
)
DOUBLE = (
    "Верно ли, что на записи звучат и {x}, и {y}?",
    "Слышны ли на записи и {x}, и {y}?",
    "Можно ли услышать на записи и {x_acc}, и {y_acc}?",
    "Верно ли, что на записи слышны оба звука: {x} и {y}?",
)
LONGER = (
    "Верно ли, что на записи {x} {x_sounds} более продолжительное время, чем {y}?",
    "Верно ли, что {x} в общей сложности {x_lasts} на записи дольше, чем {y}?",
    "Верно ли, что на записи {x} {x_heard} дольше {y_gen}?",
    "Верно ли, что по сравнению {y_with} {x} {x_sounds} на записи дольше?",
)
KINDS = (
    "Сколько видов звуков слышно на записи, если не считать фоновый шум?",
    "Не считая фонового шума, сколько разных видов звуков можно различить на записи?",
    "Сколько разных видов звуков присутствует на записи (фоновый шум не в счёт)?",
)
TIMES = (
    "Сколько раз на записи {x_heard} {x}{pauses}?",
    "Сколько раз {x} {x_sounds} на записи{pauses}?",
    "Сколько раз на записи можно услышать {x_acc}{pauses}?",
)
PRESENT = (
    "Какой из этих звуков слышен на записи?",
    "Что из перечисленного можно услышать на записи?",
    "Что из перечисленного звучит на записи?",
)
FIRST = (
    "Какой из этих звуков слышен на записи первым?",
    "Что из перечисленного слышно на записи раньше всего остального?",
    "Какой из этих звуков начинается на записи раньше других?",
)
LONGEST_OF = (
    "Какой из этих звуков в общей сложности длится на записи дольше всего?",
    "Что из перечисленного звучит на записи самое продолжительное время?",
    "Какой из этих звуков слышен на записи дольше остальных?",
)


def _instructions(count: int) -> tuple[str, ...]:
    """Instructions of the benchmark for *count* options whose letters are Latin throughout."""
    asked = (
        "Прослушайте аудиозапись.<audio> Прочитайте вопрос к аудио, оцените варианты ответа на вопрос и выберите один "
        "правильный. Дайте ответ буквой без дополнительных пояснений.\n\nВопрос: {question}"
    )
    return template(count), f"{asked}{option_lines(count)}\n\nОтвет:"


#: The prompts around a question, by its number of options.
INSTRUCTIONS = {count: _instructions(count) for count in (2, 4)}


def pauses(margins: Margins) -> str:
    """What is said about pauses where the times are counted that something is heard."""
    if not margins.frames:
        return ""
    return f" (паузы короче {f'{margins.frames / 10:g}'.replace('.', ',')} с не в счёт)"


def times(number: int) -> str:
    """``1 раз``, ``2 раза``, ``5 раз``."""
    few = number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14)
    return f"{number} раза" if few else f"{number} раз"
