import { readFileSync } from 'node:fs'
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

/** Reads a value, such as a secret, from a file of its own. Removes the line end. */
export function readValueFile(path: string): string {
  return readTextFile(path).replace(/\r?\n$/, '')
}
