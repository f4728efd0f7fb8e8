"""Programs: functions of arrays as objects that can be called, saved and loaded."""
