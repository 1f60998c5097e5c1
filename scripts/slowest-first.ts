import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The test files that take longest, which start first so that none of them is still running alone at the end. */
const slowest = [
  'cli',
  'monitor',
  'strings',
  'wall',
  'arrange',
  'admin-manufacturers',
  'conformance-cli',
  'sign-in',
  'datagram-session',
  'access',
  'languages',
  'check',
  'admin-layout',
  'snapshots',
  'retry-after',
  'scan',
  'events',
  'stale',
  'queue',
  'frequencies',
  'frequency-profiles',
  'defaults',
  'oidc',
  'rest',
  'health',
  'query-plans',
  'malformed-responses',
  'timeline',
  'single-devices',
  'alarm',
  'telemetry',
  'clients',
  'monitor-tasks',
  'plugin',
  'alert-responses',
  'live-v2',
  'metrics',
  'hostile-names',
  'admin-performers',
  'osc',
  'player',
  'suggest',
  'manufacturers',
  'leases',
  'identify',
  'alerts',
]

const rank = ({ moduleId }: TestSpecification): number => {
  const index = slowest.indexOf(basename(moduleId).replace(/\.test\.tsx?$/, ''))
  return index === -1 ? slowest.length : index
}

/** Orders test files so that the run ends early: the slowest ones first, the others as Vitest orders them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
