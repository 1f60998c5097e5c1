import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { findUnstorable } from '../domain/json.ts'
import { describeReadError } from '../platform/file-error.ts'
import { ConfigError } from './config-error.ts'

/** Throws a ConfigError, with the system's error as its cause, if the file is not readable UTF-8 text. */
export function readTextFile(path: string): string {
  return decodeText(path, readBytes(path))
}

/** Throws a ConfigError that names the first line that is not UTF-8. */
export function decodeText(path: string, bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text.replace(/^\uFEFF/, '')
  const line = text.slice(0, text.indexOf('\uFFFD')).split('\n').length
  throw new ConfigError(`${path}: line ${line} is not UTF-8; save the file with the encoding UTF-8`)
}

function readBytes(path: string, read: (path: string) => Buffer = readFileSync): Buffer {
  try {
    return read(path)
  } catch (error) {
    throw new ConfigError((describeReadError(path, error) as Error).message, { cause: error })
  }
}

/** A larger file, or a device such as /dev/zero, is not a value. */
const maxValueBytes = 65_536

/**
 * Reads a value, such as a secret, from a separate file. Removes the line end. An empty file is an error, as an empty
 * variable is in a reference.
 */
export function readValueFile(path: string): string {
  const bytes = readBytes(path, readBeginning)
  if (bytes.length > maxValueBytes) throw new ConfigError(`${path} is larger than 64 kB; specify a file with one value`)
  const text = decodeText(path, bytes).replace(/\r?\n$/, '')
  if (text === '') throw new ConfigError(`${path} is empty; write the value into it`)
  return text
}

/** Reads at most one byte more than a value may have. */
function readBeginning(path: string): Buffer {
  const bytes = Buffer.alloc(maxValueBytes + 1)
  const file = openSync(path, 'r')
  try {
    let length = 0
    for (;;) {
      const count = readSync(file, bytes, length, bytes.length - length, null)
      length += count
      if (count === 0 || length === bytes.length) return bytes.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}

/** Parses YAML into JSON values that can be stored. Throws an error with a one-line message. */
export function parseYaml(content: string): unknown {
  const { values, errors } = new YamlText(content)
  const [first] = errors
  if (first !== undefined) throw new SyntaxError(describeYamlError(first))
  return values
}

function describeYamlError({ what, position }: YamlError): string {
  return position === null ? what : `${what} at line ${position.line}, column ${position.column}`
}

export interface Position {
  readonly line: number
  readonly column: number
}

interface YamlError {
  readonly what: string
  readonly position: Position | null
}

/** A text in YAML: its values, or its errors, and where each key is. */
export class YamlText {
  /** JSON values that can be stored; undefined if there are errors. */
  readonly values: unknown
  readonly errors: readonly YamlError[]
  readonly #lines = new LineCounter()
  readonly #contents: unknown

  constructor(content: string) {
    // Prevents the library from printing warnings.
    const document = parseDocument(content, { logLevel: 'error', lineCounter: this.#lines, prettyErrors: false })
    this.#contents = document.contents
    // Warnings are errors: after an unknown tag, for example, the value would not be what the user meant.
    const problems = [...document.errors, ...document.warnings]
    this.errors = problems.map(({ message, pos }) => toYamlError(message, this.#positionOf(pos[0])))
    if (this.errors.length > 0) return
    try {
      const values: unknown = document.toJS()
      const fault = findUnstorable(values)
      if (fault === null) this.values = values
      else {
        const { path, problem } = fault
        const what = path.length === 0 ? problem : `${path.join('.')}: ${problem}`
        this.errors = [{ what, position: this.locate(path) }]
      }
    } catch (error) {
      this.errors = [toYamlError((error as Error).message, null)]
    }
  }

  /** Returns the position of a key or an item, or of the innermost one above it. */
  locate(path: readonly string[]): Position | null {
    let node = this.#contents
    let found: Position | null = null
    for (const step of path) {
      const entry = isMap(node)
        ? node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === step)
        : undefined
      const item = isSeq(node) ? node.items[Number(step)] : undefined
      const named = entry === undefined ? item : entry.key
      if (!isNode(named)) break
      found = this.#positionOf(named.range?.[0] ?? 0)
      node = entry === undefined ? item : entry.value
    }
    return found
  }

  #positionOf(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line, column: col }
  }
}

function toYamlError(message: string, position: Position | null): YamlError {
  const [line = ''] = message.split('\n')
  return { what: `not valid YAML: ${line.replace(/:$/, '')}`, position }
}
