/** Creates the software bill of materials (CycloneDX) of the packages that run: `dependencies` and what they need. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface BillOfMaterials {
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * Reads only the lock file, so the result does not depend on what is installed. `nodeVersion` is that of the Node.js that
 * a package contains.
 */
export function billOfMaterials(root: string, nodeVersion?: string): string {
  const options = ['--package-lock-only', '--include=dev', '--sbom-format=cyclonedx', '--sbom-type=application']
  const text = execFileSync('npm', ['sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const bill = JSON.parse(text) as BillOfMaterials
  const isRunning = runningPackages(root)
  return JSON.stringify({
    ...bill,
    components: [
      ...bill.components.filter((component) => isRunning(component['bom-ref'])),
      ...(nodeVersion === undefined ? [] : [describeNode(nodeVersion)]),
    ],
    dependencies: bill.dependencies
      .filter(({ ref }, index) => index === 0 || isRunning(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isRunning) })),
  })
}

function describeNode(version: string) {
  const reference = `pkg:generic/node@${version}`
  const licenses = [{ license: { id: 'MIT' } }]
  return { 'bom-ref': reference, type: 'application', name: 'node', version, purl: reference, licenses }
}

/**
 * Returns a function that checks whether the package `name@version` runs in production. Without `--include=dev`, npm
 * would also omit packages that development packages use too, such as `pg`.
 */
function runningPackages(root: string): (reference: string) => boolean {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; devOptional?: boolean }>
  }
  const running = new Set<string>()
  for (const [path, { version, dev = false, devOptional = false }] of Object.entries(packages)) {
    if (!dev && !devOptional) running.add(`${path.replace(/^.*node_modules\//, '')}@${version}`)
  }
  return (reference) => running.has(reference)
}
