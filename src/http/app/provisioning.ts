/** Reads the file in `provisioning`, and applies it when the service starts. */

import { ImportError } from '../../actions/installation/import-context.ts'
import { ProvisioningFile, provision } from '../../actions/installation/provisioning.ts'
import { type ConfigProblem, findSchemaErrors, toConfigError } from '../../config/config-error.ts'
import { readTextFile, YamlText } from '../../config/text-file.ts'
import { ConfigError } from '../../config.ts'
import type { Service } from '../../service.ts'

interface Provisioning {
  readonly path: string
  readonly contents: ProvisioningFile
}

/** Returns null without a file. Throws a ConfigError about its first problem. */
export function loadProvisioning(path: string | null): Provisioning | null {
  if (path === null) return null
  const { contents, problems } = readProvisioning(path)
  const [first] = problems
  if (first !== undefined) throw toConfigError(first)
  return { path, contents }
}

export function findProvisioningProblems(path: string | null): readonly ConfigProblem[] {
  return path === null ? [] : readProvisioning(path).problems
}

function readProvisioning(path: string): {
  readonly contents: ProvisioningFile
  readonly problems: readonly ConfigProblem[]
} {
  const empty = { file: path, line: null, column: null, key: null, suggestion: null }
  try {
    const yaml = new YamlText(readTextFile(path))
    const syntaxErrors = yaml.errors.map(({ what, position }) => ({ ...empty, what, ...position }))
    if (syntaxErrors.length > 0) return { contents: {}, problems: syntaxErrors }
    const contents = (yaml.values ?? {}) as ProvisioningFile
    const problems = findSchemaErrors(ProvisioningFile, contents).map(
      ({ path: keys, key, problem: what, suggestion }): ConfigProblem => ({
        ...empty,
        ...yaml.locate(keys),
        key: key === '' ? null : key,
        what,
        suggestion,
      }),
    )
    return { contents, problems }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { contents: {}, problems: [{ ...empty, file: null, what: error.message, cause: error.cause }] }
  }
}

/** Throws a ConfigError about a value that does not fit what is stored. The service starts without a writable database. */
export async function applyProvisioning(service: Service, { path, contents }: Provisioning): Promise<void> {
  try {
    await provision(service, contents, path)
  } catch (error) {
    if (error instanceof ImportError) throw new ConfigError(`${path}: ${error.message}`, { cause: error })
    service.log.error({ file: path, error: String(error) }, 'the provisioning file could not be applied')
  }
}
