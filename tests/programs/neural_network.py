"""XOR learnt by a network of one hidden layer, with gradients by hand."""


def main(np):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def sigmoid_derivative(x):
        return x * (1 - x)

    inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    expected = np.array([[0], [1], [1], [0]])
    hidden_weights = np.array([[0.5, -0.4, 0.9], [0.8, 0.7, -0.2]])
    hidden_bias = np.array([[0.1, -0.2, 0.05]])
    output_weights = np.array([[0.3], [-0.9], [0.6]])
    output_bias = np.zeros((1, 1))
    lr = 0.5
    losses = []
    for epoch in range(150):
        hidden = sigmoid(np.dot(inputs, hidden_weights) + hidden_bias)
        predicted = sigmoid(np.dot(hidden, output_weights) + output_bias)
        error = expected - predicted
        if epoch % 50 == 0:
            losses.append(np.mean(np.square(error)))
        d_predicted = error * sigmoid_derivative(predicted)
        d_hidden = d_predicted.dot(output_weights.T) * sigmoid_derivative(hidden)
        output_weights += hidden.T.dot(d_predicted) * lr
        output_bias += np.sum(d_predicted, axis=0, keepdims=True) * lr
        hidden_weights += inputs.T.dot(d_hidden) * lr
        hidden_bias += np.sum(d_hidden, axis=0, keepdims=True) * lr

    logits = np.array([[2.0, 1.0, 0.1], [1000.0, 1000.0, -5.0]])
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    softmax = exp / exp.sum(axis=1, keepdims=True)
    y = np.array([0, 1])
    cross_entropy = -np.log(softmax[np.arange(len(y)), y]).mean()
    one_hot = np.eye(3)[y]
    return {
        "weights": hidden_weights,
        "output": predicted,
        "losses": losses,
        "falling": bool(losses[-1] < losses[0]),
        "softmax": softmax,
        "cross_entropy": cross_entropy,
        "gradient": (softmax - one_hot) / len(y),
        "relu": np.maximum(0, hidden_weights),
        "parameters": sum(p.size for p in [hidden_weights, hidden_bias, output_weights, output_bias]),
    }
