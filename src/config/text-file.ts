import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
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

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError((describeReadError(path, error) as Error).message, { cause: error })
  }
}

/** Reads a value, such as a secret, from a separate file. Removes the line end. */
export function readValueFile(path: string): string {
  return readTextFile(path).replace(/\r?\n$/, '')
}

/** Parses YAML into JSON values that can be stored. Throws an error with a one-line message. */
export function parseYaml(content: string): unknown {
  const values = parsePlainYaml(content)
  const fault = findUnstorable(values)
  if (fault === null) return values
  throw new SyntaxError(fault.path.length === 0 ? fault.problem : `${fault.path.join('.')}: ${fault.problem}`)
}

function parsePlainYaml(content: string): unknown {
  try {
    // Prevents the library from printing warnings.
    const document = parseDocument(content, { logLevel: 'error' })
    // Warnings are errors: after an unknown tag, for example, the value would not be what the user meant.
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw problem
    return document.toJS()
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    throw new SyntaxError(`not valid YAML: ${line.replace(/:$/, '')}`, { cause: error })
  }
}
