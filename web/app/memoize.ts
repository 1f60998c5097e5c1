/** Computes again only when an input is another object or value. */
export function memoize<const Inputs extends readonly unknown[], Result>(
  read: () => Inputs,
  compute: (inputs: Inputs) => Result,
): () => Result {
  let last: { readonly inputs: Inputs; readonly result: Result } | null = null
  return () => {
    const inputs = read()
    if (last === null || !inputs.every((value, index) => value === last?.inputs[index])) {
      last = { inputs, result: compute(inputs) }
    }
    return last.result
  }
}
