"""What a model's free text says: numbers, directions, times, names and letters, read so that doubt is not a reading."""
