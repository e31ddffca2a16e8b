"""What people look at: pictures of clips and data sets, and the page about a clip."""
