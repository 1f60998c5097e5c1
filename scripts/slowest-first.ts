import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The test files that take longest, which start first so that none of them is still running alone at the end. */
const slowest = [
  'cli',
  'monitor',
  'arrange',
  'wall',
  'queue',
  'admin-layout',
  'conformance-cli',
  'snapshots',
  'sign-in',
  'access',
  'admin-manufacturers',
  'languages',
  'retry-after',
  'defaults',
  'stale',
  'rest',
  'scan',
  'strings',
  'single-devices',
  'admin-connections',
  'alerts',
  'admin-access',
  'leases',
  'datagram-session',
  'telemetry',
  'settings',
  'hardware',
  'admin-service',
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
