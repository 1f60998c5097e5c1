import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that mostly wait, slowest first. */
const waiting = [
  'strings',
  'datagram-session',
  'plugin',
  'retry-after',
  'scan',
  'events',
  'defaults',
  'single-devices',
  'telemetry',
  'alert-responses',
  'health',
  'rest',
  'history-recording',
  'settings',
  'metrics',
  'oidc',
  'malformed-responses',
  'upstream',
  'alerts',
  'identify',
  'leases',
  'frequencies',
  'osc',
  'fuzz',
  'openapi',
  'hardware',
  'redis',
  'manufacturers',
  'planning-center',
  'live-v2',
  'connectivity',
]

/** Test files that compute, or let a browser or other processes compute, slowest first. */
const computing = [
  'monitor',
  'wall',
  'arrange',
  'timeline',
  'stale',
  'alarm',
  'monitor-tasks',
  'sign-in',
  'routing',
  'clients',
  'i18n',
  'channel-history',
  'documents',
  'sites',
  'channel',
  'hostile-names',
  'player',
]

/** The position of a file among those of its kind, from 0 to 1; 1 for files in neither list. */
function positionOf({ moduleId }: TestSpecification): number {
  const name = basename(moduleId).replace(/\.test\.tsx?$/, '')
  const list = waiting.includes(name) ? waiting : computing
  const index = list.indexOf(name)
  return index === -1 ? 1 : (index + 0.5) / list.length
}

/**
 * Orders test files so that the run ends early. The slowest ones come first, so that none runs alone at the end.
 * Waiting ones run beside computing ones, so that no core is idle.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => positionOf(a) - positionOf(b))
  }
}
