/** The latest lines of the log, for the support bundle. */

const maxLines = 500

export class LogTail {
  readonly #lines: string[] = []

  /** `line` is a JSON object. */
  add(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > maxLines) this.#lines.shift()
  }

  /** The oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }
}
