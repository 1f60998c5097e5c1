import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The test files that take longest, which start first so that none of them is still running alone at the end. */
const slowest = [
  'backup',
  'cli',
  'commands',
  'export-import',
  'admin-manufacturers',
  'access',
  'queue',
  'monitor',
  'admin-layout',
  'telemetry',
  'strings',
  'sign-in',
  'wall',
  'languages',
  'admin-connections',
  'admin-service',
  'retry-after',
  'alerts',
  'conformance-cli',
  'first-use',
  'snapshots',
  'postgres',
  'defaults',
  'leases',
  'hardware',
  'rest',
  'admin-access',
  'movements',
  'stale',
  'navigation',
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
