"""Sound and pictures: the homes of soundfile and PyAV."""
