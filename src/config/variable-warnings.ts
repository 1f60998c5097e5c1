/** Finds environment variables that look like configuration but have no effect. */

import { type Environment, fileOnlyNames, isInjected, variableNames } from './environment.ts'

/** Variables that are not keys of the file. The examples and the launcher of the archives use the last three. */
const otherNames = ['MICWATCH_CONFIG', 'MICWATCH_ENVIRONMENT_FILE', 'MICWATCH_HOME', 'MICWATCH_URL', 'MICWATCH_TOKEN']

const knownNames = [...variableNames, ...otherNames]

export function listVariableWarnings(env: Environment): string[] {
  const isFromOrchestrator = findInjected(env)
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('MICWATCH_') && !knownNames.includes(name) && !isFromOrchestrator(name),
  )
  return unknown.map((name) => `${name} has no effect, because there is no such variable${suggest(name)}`)
}

/**
 * Returns a predicate for variables that an orchestrator injects. Besides MICWATCH_PORT=tcp://10.0.0.1:80, Kubernetes
 * sets MICWATCH_SERVICE_HOST, MICWATCH_PORT_80_TCP_ADDR and others.
 */
function findInjected(env: Environment): (name: string) => boolean {
  const injected = Object.keys(env).filter((name) => isInjected(env[name]))
  const prefixes = injected.map((name) => name.replace(/_PORT(_.*)?$/, ''))
  return (name) =>
    injected.includes(name) ||
    prefixes.some((prefix) => name.startsWith(`${prefix}_SERVICE_`) || name.startsWith(`${prefix}_PORT_`))
}

function suggest(name: string): string {
  if (fileOnlyNames.includes(name)) return '; this can only be set in the configuration file'
  const [closest] = knownNames
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
  return closest === undefined ? '; docs/configuration.md lists all' : `; did you mean ${closest.known}?`
}

/** A larger difference is more likely another word than a misspelling. */
const maxDistance = 3

/** Returns the number of characters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [index, character] of [...a].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...b].entries()) {
      const replaced = (row[at] ?? 0) + (character === other ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
