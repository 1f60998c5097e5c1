/** Checks a Dockerfile with the validator of Docker's language server. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { installNpmTools } from './npm-tools.ts'

/** The part of the validator that is used. Lines start at 0. */
interface Validator {
  validate(text: string): readonly {
    readonly message: string
    readonly range: { readonly start: { readonly line: number } }
  }[]
}

/** Returns the problems, one a line. */
export async function lintDockerfile(path: string): Promise<string[]> {
  const modules = installNpmTools('dockerfile-utils@0.16.3')
  const { validate }: Validator = createRequire(join(modules, 'index.js'))('dockerfile-utils')
  return validate(readFileSync(path, 'utf8')).map(({ message, range }) => `${path}:${range.start.line + 1}: ${message}`)
}
