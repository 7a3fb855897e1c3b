"""What every part of becalm needs: errors and messages, files and folders, JSON and TOML, intervals."""
