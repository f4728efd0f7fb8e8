"""Letters of a text as numbers: counts, entropy, a cipher, n-grams."""


def main(np):
    text = "the quick brown fox jumps over the lazy dog and runs away from the bear"
    codes = np.array([ord(c) for c in text])
    letters = codes[(codes >= 97) & (codes <= 122)] - 97
    counts = np.bincount(letters, minlength=26)
    p = counts[counts > 0] / counts.sum()
    entropy = -np.sum(p * np.log2(p))
    top = np.argsort(-counts, kind="stable")[:5]
    shifted = (letters + 3) % 26
    cipher = "".join(chr(c + 97) for c in shifted)
    spaces = np.flatnonzero(codes == 32)
    lengths = np.diff(np.concatenate(([-1], spaces, [len(codes)]))) - 1
    bigrams = np.zeros((26, 26), dtype=np.int32)
    for a, b in zip(letters[:-1], letters[1:]):
        bigrams[a, b] += 1
    first, second = np.unravel_index(bigrams.argmax(), bigrams.shape)
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    vowels = np.isin(letters, [ord(c) - 97 for c in "aeiou"])
    return {
        "counts": counts,
        "entropy": entropy,
        "top": {chr(int(i) + 97): int(counts[i]) for i in top},
        "cipher": cipher[:10],
        "lengths": lengths,
        "mean": f"{lengths.mean():.2f}",
        "bigram": chr(first + 97) + chr(second + 97),
        "bigrams": bigrams.sum(),
        "same": bool((raw == codes).all()),
        "vowels": vowels.mean(),
        "missing": [chr(i + 97) for i in np.where(counts == 0)[0]],
        "histogram": np.histogram(lengths, bins=[1, 3, 5, 7])[0],
    }
