/** Creates the software bill of materials (CycloneDX). The output is reproducible. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from './source.ts'

/** Packages with native code, and their loader. They are installed for each platform and not bundled. */
export const nativePackages = [
  '@node-rs/argon2',
  '@photostructure/sqlite',
  '@serialport/bindings-cpp',
  'node-gyp-build',
]

/** The other packages that the one for serial ports needs. */
export const serialPackages = [
  '@serialport/bindings-cpp/node_modules/debug',
  '@serialport/bindings-interface',
  '@serialport/parser-delimiter',
  '@serialport/parser-readline',
  'ms',
]

/** The name of a package's folder in the taxonomy of CycloneDX. */
const folderProperty = 'cdx:npm:package:path'

/** The entry of a package in package-lock.json, by its folder. */
interface LockedPackage {
  /** If it differs from that of the folder. */
  readonly name?: string
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface Metadata {
  readonly timestamp: string
  readonly component: {
    readonly version: string
    readonly pedigree?: { readonly commits: readonly { readonly uid: string }[] }
    readonly externalReferences?: readonly { readonly url: string }[]
  }
}

interface Component {
  readonly 'bom-ref': string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

/**
 * Lists the npm packages in `folders` (relative to `root`), the SQLite that one of them contains, and the Node.js of
 * this version.
 */
export function billOfMaterials(
  root: string,
  { version, commit, date, projectUrl }: Source,
  folders: Iterable<string>,
  nodeVersion?: string,
): string {
  const { packages } = readJson(join(root, 'package-lock.json')) as { packages: Record<string, LockedPackage> }
  const { name, license } = readJson(join(root, 'package.json')) as Record<string, string>
  const { versions } = readJson(join(root, 'node_modules/@photostructure/sqlite/package.json')) as {
    versions: { sqlite: string }
  }
  // Two folders may contain the same version of a package.
  const byReference = new Map([...folders].sort().map((folder) => [referenceOf(folder, packages), folder]))
  const shipped = new Set(byReference.values())
  const others = [
    describeProgram('sqlite', versions.sqlite, 'sqlite:sqlite', 'blessing'),
    ...(nodeVersion === undefined ? [] : [describeProgram('node', nodeVersion, 'nodejs:node.js', 'MIT')]),
  ]
  const self = `${name}@${version}`
  const content = {
    metadata: {
      timestamp: date.toISOString(),
      component: {
        'bom-ref': self,
        type: 'application',
        name,
        version,
        purl: `pkg:npm/${self}`,
        licenses: [{ license: { id: license } }],
        ...(commit !== null && { pedigree: { commits: [{ uid: commit }] } }),
        ...(projectUrl !== null && { externalReferences: [{ type: 'vcs', url: projectUrl }] }),
      },
    },
    components: [...[...byReference].map(([, folder]) => describePackage(folder, packages)), ...others],
    dependencies: [
      { ref: self, dependsOn: [...dependenciesOf('', packages, shipped), ...others.map((other) => other['bom-ref'])] },
      ...[...byReference].map(([ref, folder]) => ({ ref, dependsOn: dependenciesOf(folder, packages, shipped) })),
    ],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`
  return JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber, version: 1, ...content })
}

/** Returns the sources of which a bill of materials was made. */
export function sourceOf(bill: string): Source {
  const { timestamp, component } = (JSON.parse(bill) as { metadata: Metadata }).metadata
  const [commit] = component.pedigree?.commits ?? []
  const [project] = component.externalReferences ?? []
  return {
    ...{ version: component.version, commit: commit?.uid ?? null, date: new Date(timestamp) },
    projectUrl: project?.url ?? null,
  }
}

/** Returns the folders of the npm packages in a bill of materials. */
export function listedFolders(bill: string): string[] {
  const { components } = JSON.parse(bill) as { components: readonly Component[] }
  return components.flatMap(({ properties = [] }) =>
    properties.filter(({ name }) => name === folderProperty).map(({ value }) => value),
  )
}

function lockedIn(folder: string, packages: Readonly<Record<string, LockedPackage>>): LockedPackage {
  const locked = packages[folder]
  if (locked === undefined) throw new Error(`package-lock.json does not contain ${folder}.`)
  return locked
}

function referenceOf(folder: string, packages: Readonly<Record<string, LockedPackage>>): string {
  const { name = nameIn(folder), version } = lockedIn(folder, packages)
  return `${name}@${version}`
}

const nameIn = (folder: string) => folder.replace(/^.*node_modules\//, '')

function describePackage(folder: string, packages: Readonly<Record<string, LockedPackage>>) {
  const { name = nameIn(folder), version, license, integrity } = lockedIn(folder, packages)
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license !== undefined && {
      licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }],
    }),
    ...(integrity?.startsWith('sha512-') && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    }),
    properties: [{ name: folderProperty, value: folder }],
  }
}

/** Describes a program that no npm package of its name contains. `product` is that of its CPE. */
function describeProgram(name: string, version: string, product: string, license: string) {
  const purl = `pkg:generic/${name}@${version}`
  const cpe = `cpe:2.3:a:${product}:${version}:*:*:*:*:*:*:*`
  return { 'bom-ref': purl, type: 'application', name, version, purl, cpe, licenses: [{ license: { id: license } }] }
}

/** Returns the shipped packages that the one in `folder` depends on. */
function dependenciesOf(
  folder: string,
  packages: Readonly<Record<string, LockedPackage>>,
  shipped: ReadonlySet<string>,
): string[] {
  const { dependencies = {}, optionalDependencies = {}, devDependencies = {} } = lockedIn(folder, packages)
  // Those of Micwatch itself that are bundled.
  const bundled = folder === '' ? devDependencies : {}
  return Object.keys({ ...dependencies, ...optionalDependencies, ...bundled })
    .map((name) => resolve(name, folder, packages))
    .filter((path) => shipped.has(path))
    .map((path) => referenceOf(path, packages))
    .sort()
}

/** Returns the folder of the package `name` that Node.js resolves from `folder`. */
function resolve(name: string, folder: string, packages: Readonly<Record<string, LockedPackage>>): string {
  const path = join(folder, 'node_modules', name)
  if (folder === '' || packages[path] !== undefined) return path
  return resolve(name, folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, ''), packages)
}

/** Returns a UUID of version 8 (RFC 9562) that depends only on the text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
