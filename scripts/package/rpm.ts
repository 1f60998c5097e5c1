/** Builds the rpm package with rpmbuild, which Debian also has. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireProgram } from './program.ts'
import { contactOf, layOutSystem, type PackageOptions } from './system.ts'

export function buildRpm(options: PackageOptions, architecture: 'x86_64' | 'aarch64'): Buffer {
  requireProgram('rpmbuild', 'rpm')
  const { root, source, work, isFast } = options
  const tree = layOutSystem(options, 'usr/lib/systemd/system')
  const top = join(work, 'rpm')
  mkdirSync(top)
  const macros = {
    _topdir: top,
    _rpmdir: top,
    _rpmfilename: 'micwatch.rpm',
    _dbpath: join(work, 'rpm-database'),
    _buildhost: 'micwatch',
    _binary_payload: isFast ? 'w1.gzdio' : 'w6.xzdio',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    micwatch_version: source.version,
    micwatch_contact: contactOf(root),
    micwatch_tree: tree,
  }
  const defines = Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  const spec = join(root, 'scripts/package/files/micwatch.spec')
  execFileSync('rpmbuild', ['-bb', '--quiet', `--target=${architecture}-linux`, ...defines, spec], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(source.date.getTime() / 1000) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readFileSync(join(top, 'micwatch.rpm'))
}
