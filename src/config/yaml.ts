import { parseDocument } from 'yaml'
import { findUnstorable } from '../domain/json.ts'

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
