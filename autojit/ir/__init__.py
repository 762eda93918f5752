"""The graph and its parts: specs, ops, indices, values, nodes; its text and its checks."""
