"""A small neural network, written out in NumPy, that learns to read noisy digits.

The digits are drawn from small bitmaps, shifted, dimmed and buried in noise. A network of two hidden layers is
trained with minibatches, momentum, weight decay and a falling learning rate.

The script ends with exit status 3 when the accuracy on the test digits stays below REQUIRED_ACCURACY. That is the
accuracy asked of a reader to be used without supervision; with noise this strong the network is not expected to
reach it, so callers should be prepared for the status.

Usage: python network.py [scale]
"""

import argparse
import sys

import numpy as np

REQUIRED_ACCURACY = 0.995

BITMAPS = [
    [".###.", "#...#", "#...#", "#...#", "#...#", "#...#", ".###."],
    ["..#..", ".##..", "..#..", "..#..", "..#..", "..#..", ".###."],
    [".###.", "#...#", "....#", "..##.", ".#...", "#....", "#####"],
    ["####.", "....#", "....#", ".###.", "....#", "....#", "####."],
    ["...#.", "..##.", ".#.#.", "#..#.", "#####", "...#.", "...#."],
    ["#####", "#....", "####.", "....#", "....#", "#...#", ".###."],
    [".###.", "#....", "#....", "####.", "#...#", "#...#", ".###."],
    ["#####", "....#", "...#.", "...#.", "..#..", "..#..", "..#.."],
    [".###.", "#...#", "#...#", ".###.", "#...#", "#...#", ".###."],
    [".###.", "#...#", "#...#", ".####", "....#", "....#", ".###."],
]
SIDE = 11


def draw_digits(count, noise, rng):
    """Make noisy pictures of digits; returns them as rows, with their labels."""
    stencils = np.array([[[mark == "#" for mark in row] for row in bitmap] for bitmap in BITMAPS], dtype=float)
    labels = rng.integers(0, 10, count)
    pictures = np.zeros((count, SIDE, SIDE))
    for i, label in enumerate(labels):
        top = rng.integers(1, 4)
        left = rng.integers(2, 5)
        pictures[i, top : top + 7, left : left + 5] = rng.uniform(0.6, 1.0) * stencils[label]
    blurred = pictures.copy()
    blurred[:, 1:, :] += 0.2 * pictures[:, :-1, :]
    blurred[:, :, 1:] += 0.2 * pictures[:, :, :-1]
    blurred += noise * rng.standard_normal(blurred.shape)
    return blurred.reshape(count, SIDE * SIDE), labels


def one_hot(labels, classes):
    """Rows with a one at the label."""
    encoded = np.zeros((len(labels), classes))
    encoded[np.arange(len(labels)), labels] = 1.0
    return encoded


def softmax(scores):
    """Probabilities from scores, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    powers = np.exp(shifted)
    return powers / powers.sum(axis=1, keepdims=True)


def cross_entropy(probabilities, targets):
    """The mean negative log likelihood."""
    return -np.mean(np.sum(targets * np.log(probabilities + 1e-12), axis=1))


class Dense:
    """A fully connected layer."""

    def __init__(self, inputs, outputs, rng):
        self.weights = rng.standard_normal((inputs, outputs)) * np.sqrt(2.0 / inputs)
        self.bias = np.zeros(outputs)
        self.inputs = None
        self.weights_gradient = np.zeros_like(self.weights)
        self.bias_gradient = np.zeros_like(self.bias)

    def forward(self, x):
        self.inputs = x
        return x @ self.weights + self.bias

    def backward(self, gradient):
        self.weights_gradient = self.inputs.T @ gradient
        self.bias_gradient = gradient.sum(axis=0)
        return gradient @ self.weights.T

    def parameters(self):
        return [(self.weights, self.weights_gradient, True), (self.bias, self.bias_gradient, False)]


class LeakyRelu:
    """The identity above zero and a gentle slope below it."""

    def __init__(self, slope=0.05):
        self.slope = slope
        self.positive = None

    def forward(self, x):
        self.positive = x > 0
        return np.where(self.positive, x, self.slope * x)

    def backward(self, gradient):
        return gradient * np.where(self.positive, 1.0, self.slope)

    def parameters(self):
        return []


class Tanh:
    """The hyperbolic tangent."""

    def __init__(self):
        self.outputs = None

    def forward(self, x):
        self.outputs = np.tanh(x)
        return self.outputs

    def backward(self, gradient):
        return gradient * (1.0 - self.outputs**2)

    def parameters(self):
        return []


class Network:
    """Layers in a row with a softmax on top."""

    def __init__(self, layers):
        self.layers = layers

    def scores(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def predict(self, x, batch=500):
        """The likeliest class of each row, computed in pieces."""
        pieces = [self.scores(x[start : start + batch]) for start in range(0, len(x), batch)]
        return np.argmax(np.concatenate(pieces), axis=1)

    def train_batch(self, x, targets):
        """Forward and backward; returns the loss of the batch."""
        probabilities = softmax(self.scores(x))
        gradient = (probabilities - targets) / len(x)
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        return cross_entropy(probabilities, targets)

    def parameters(self):
        return [entry for layer in self.layers for entry in layer.parameters()]

    def size(self):
        return sum(values.size for values, _, _ in self.parameters())


class Momentum:
    """Stochastic gradient descent with momentum and weight decay."""

    def __init__(self, network, rate, momentum=0.9, decay=1e-4):
        self.network = network
        self.rate = rate
        self.momentum = momentum
        self.decay = decay
        self.velocities = [np.zeros_like(values) for values, _, _ in network.parameters()]

    def update(self):
        for velocity, (values, gradient, decays) in zip(self.velocities, self.network.parameters()):
            if decays:
                gradient = gradient + self.decay * values
            velocity *= self.momentum
            velocity -= self.rate * gradient
            values += velocity


def check_gradients(rng):
    """Compare some gradients with finite differences on a tiny network."""
    network = Network([Dense(6, 5, rng), Tanh(), Dense(5, 3, rng)])
    x = rng.standard_normal((7, 6))
    targets = one_hot(rng.integers(0, 3, 7), 3)
    network.train_batch(x, targets)
    worst = 0.0
    for values, gradient, _ in network.parameters():
        expected = gradient.copy()
        flat = values.reshape(-1)
        for index in rng.choice(flat.size, size=min(4, flat.size), replace=False):
            kept = flat[index]
            flat[index] = kept + 1e-5
            above = cross_entropy(softmax(network.scores(x)), targets)
            flat[index] = kept - 1e-5
            below = cross_entropy(softmax(network.scores(x)), targets)
            flat[index] = kept
            worst = max(worst, abs((above - below) / 2e-5 - expected.reshape(-1)[index]))
    return worst < 1e-6


def train(network, optimiser, train_set, valid_set, epochs, batch, rng):
    """Train for some epochs; returns the history as a list of dicts."""
    x, labels = train_set
    targets = one_hot(labels, 10)
    history = []
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        losses = []
        for start in range(0, len(x), batch):
            rows = order[start : start + batch]
            losses.append(network.train_batch(x[rows], targets[rows]))
            optimiser.update()
        valid_x, valid_labels = valid_set
        correct = network.predict(valid_x) == valid_labels
        history.append({"loss": float(np.mean(losses)), "valid": float(correct.mean()), "rate": optimiser.rate})
        optimiser.rate *= 0.8
        entry = history[-1]
        print(f"epoch {epoch + 1:2d}: loss {entry['loss']:.4f}, valid {entry['valid']:.4f}, rate {entry['rate']:.4g}")
    return history


def confusion(labels, predicted, classes=10):
    """Counts of what (rows) was read as what (columns)."""
    table = np.zeros((classes, classes), dtype=int)
    np.add.at(table, (labels, predicted), 1)
    return table


def report_errors(table):
    """Print the recall and precision of each class and the commonest mistakes."""
    hits = np.diag(table)
    recall = hits / np.maximum(table.sum(axis=1), 1)
    precision = hits / np.maximum(table.sum(axis=0), 1)
    print("recall:    " + " ".join(f"{value:.3f}" for value in recall))
    print("precision: " + " ".join(f"{value:.3f}" for value in precision))
    mistakes = {}
    for true in range(len(table)):
        for read in range(len(table)):
            if true != read and table[true, read]:
                mistakes[true, read] = int(table[true, read])
    worst = sorted(mistakes.items(), key=lambda item: (-item[1], item[0]))[:4]
    print("mistakes:  " + ", ".join(f"{true} read as {read} {count} times" for (true, read), count in worst))


def nearest_mean(train_set, test_set):
    """The accuracy of comparing with the mean picture of each class, as a baseline."""
    x, labels = train_set
    means = np.array([x[labels == digit].mean(axis=0) for digit in range(10)])
    test_x, test_labels = test_set
    distances = ((test_x[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)
    return float((distances.argmin(axis=1) == test_labels).mean())


def main():
    """Make the digits, train, test and judge."""
    parser = argparse.ArgumentParser(description="train a small network on noisy digits")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="amount of data, 1 for the full amount")
    scale = parser.parse_args().scale
    rng = np.random.default_rng(31415)

    print(f"gradients agree with differences: {check_gradients(rng)}")
    train_set = draw_digits(max(400, round(84000 * scale)), 0.3, rng)
    valid_set = draw_digits(max(200, round(2000 * scale)), 0.3, rng)
    test_set = draw_digits(max(200, round(3000 * scale)), 0.3, rng)
    mean, spread = train_set[0].mean(axis=0), train_set[0].std(axis=0)
    train_set, valid_set, test_set = (((x - mean) / spread, labels) for x, labels in (train_set, valid_set, test_set))

    layers = [Dense(SIDE * SIDE, 64, rng), LeakyRelu(), Dense(64, 48, rng), Tanh(), Dense(48, 10, rng)]
    network = Network(layers)
    print(f"{len(train_set[0])} digits to learn, {network.size()} parameters")
    optimiser = Momentum(network, rate=0.02)
    history = train(network, optimiser, train_set, valid_set, epochs=14, batch=32, rng=rng)
    best = max(range(len(history)), key=lambda epoch: history[epoch]["valid"])
    print(f"best epoch on the validation digits: {best + 1}")

    predicted = network.predict(test_set[0])
    accuracy = float((predicted == test_set[1]).mean())
    print(f"baseline accuracy: {nearest_mean(train_set, test_set):.4f}")
    print(f"test accuracy: {accuracy:.4f}")
    report_errors(confusion(test_set[1], predicted))
    norms = [np.sqrt((layer.weights**2).sum()) for layer in layers if isinstance(layer, Dense)]
    print("weight norms: " + " ".join(f"{norm:.5g}" for norm in norms))

    if accuracy < REQUIRED_ACCURACY:
        print(f"the accuracy is below the required {REQUIRED_ACCURACY}")
        sys.exit(3)
    print(f"the accuracy is at least the required {REQUIRED_ACCURACY}")


if __name__ == "__main__":
    main()
