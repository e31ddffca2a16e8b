"""Read numbers, directions, times, names and letters from a model's free text; doubtful ones are not read."""
