"""What can be measured of a definition; nothing here grades."""
