"""Whole programs without a change: functions of a script and of its own modules, autoclustered when they are called."""
