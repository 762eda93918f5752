"""What the user can see of the compiled programs and of what was left out."""
