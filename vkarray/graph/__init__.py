"""Programs: functions of arrays, traced into a graph, fused, and repeated."""
