/**
 * Reads variables from a file in the syntax of EnvironmentFile in a systemd unit, so that commands use the variables of
 * the service.
 */

import { type Environment, isSet } from './environment.ts'
import { readTextFile } from './text-file.ts'

/** Adds the variables of the file in MICWATCH_ENVIRONMENT_FILE that are not set. */
export function loadEnvironmentFile(env: Record<string, string | undefined>): void {
  const path = env.MICWATCH_ENVIRONMENT_FILE
  if (!isSet(path)) return
  for (const [name, value] of Object.entries(parseEnvironmentFile(readTextFile(path)))) {
    if (!isSet(env[name])) env[name] = value
  }
}

// Unlike in a shell, a # within a value is part of it, and quotes are only special at the beginning of a part.
const quoted = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"/
const unquoted = /((?:[^\\\n'" \t]|\\[\s\S])(?:[^\\\n]|\\[\s\S])*)/
const part = `[ \\t]*(?:${quoted.source}|${unquoted.source})`
const assignment = new RegExp(`^[ \\t]*(?<name>[A-Za-z_]\\w*)[ \\t]*=(?<value>(?:${part})*)`, 'gm')

/**
 * Parses `NAME=value` lines. Lines that begin with # or a semicolon are comments. Other lines are ignored, as systemd
 * does.
 */
export function parseEnvironmentFile(text: string): Environment {
  const lines = text.replaceAll('\r\n', '\n')
  return Object.fromEntries(
    [...lines.matchAll(assignment)].map(({ groups = {} }) => [groups.name ?? '', joinParts(groups.value ?? '')]),
  )
}

function joinParts(value: string): string {
  const parts = [...value.matchAll(new RegExp(part, 'g'))].map(([, single, double, plain]) => {
    if (single !== undefined) return single
    if (double !== undefined) return double.replace(/\\([\s\S])/g, unescapeQuoted)
    return (plain ?? '').replace(/(\\[\s\S])|[ \t]+$/g, (_, escaped = '') => escaped.replace(/^\\\n?/, ''))
  })
  return parts.join('')
}

/** Within double quotes, a backslash is only special before these characters and at the end of a line. */
function unescapeQuoted(text: string, character: string): string {
  if (character === '\n') return ''
  return '"\\`$'.includes(character) ? character : text
}
