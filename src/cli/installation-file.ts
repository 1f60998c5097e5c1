/** Parses and formats the file that `export` writes and `import` reads. */

import { Document, visit } from 'yaml'
import { InstallationFile } from '../actions/installation/installation-file.ts'
import { findSchemaError } from '../config/schema-error.ts'
import { parseYaml } from '../config/yaml.ts'
import { escapeControls } from './output.ts'
import { UsageError } from './terminal.ts'

/** Throws a UsageError with the file, the path of the invalid value and the expected value in one line. */
export function parseInstallationFile(content: string, filename: string): InstallationFile {
  let values: unknown
  try {
    values = parseYaml(content)
  } catch (error) {
    throw new UsageError(`${filename}: ${(error as Error).message}`)
  }
  const error = findSchemaError(InstallationFile, values)
  if (error !== null) throw new UsageError(`${filename}: ${error.key === '' ? '' : `${error.key}: `}${error.problem}`)
  return values as InstallationFile
}

const explanation = ` The configuration of an installation, written by micwatch export.

 Import it with micwatch import, which adds and changes the records of the file and removes none. Manufacturers are
 matched by code, locations by their names, groups by title, performers by name, receivers by manufacturer and serial
 number (otherwise by MAC address, otherwise by the id that their system gives them), placeholders by slot, shows by
 title and planned start, markers by time, channel and text, line checks by show, channel and times, notification
 channels by name and type, notification rules by name, frequency profiles by id.

 "********" stands for a secret that was not exported; the import leaves the stored secret unchanged.
 Accounts, tokens, the review queue and the logs are not included: micwatch backup copies everything.`

export function toYamlText(file: InstallationFile): string {
  const document = new Document(file)
  document.commentBefore = explanation
  visit(document, {
    Scalar(_, scalar) {
      // YAML has escapes only in double-quoted strings.
      if (typeof scalar.value === 'string' && escapeControls(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // A line width of 0 means no limit, so that long values, such as pictures, stay on one line.
  return escapeControls(document.toString({ lineWidth: 0 }))
}

export function toJsonText(file: InstallationFile): string {
  return escapeControls(`${JSON.stringify(file, null, 2)}\n`)
}
