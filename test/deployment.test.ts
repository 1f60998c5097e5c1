/**
 * Checks that the files, commands, flags, variables and keys exist that deploy/ and docs/several-machines.md mention.
 */

import { execFile } from 'node:child_process'
import { access, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { freePort } from '../scripts/free-port.ts'
import { lintUnit } from '../scripts/lint/unit.ts'
import { readConfig } from '../src/config.ts'
import { createInstallation, until } from './support/app.ts'
import { createTestFolder } from './support/store/databases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFile(join(root, path), 'utf8')
const execFileAsync = promisify(execFile)
const program = join(root, 'dist/main.js')

interface Service {
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly cap_add?: readonly string[]
}

async function readServices(file: string): Promise<[string, Service][]> {
  const { services } = parseYaml(await read(file), { merge: true }) as { services: Record<string, Service> }
  return Object.entries(services)
}

const helpTexts = new Map<string, Promise<{ stdout: string }>>()

/** Expects that the command exists and accepts these flags. */
async function expectCommand(args: readonly string[]): Promise<void> {
  const [command = ''] = args
  const help = helpTexts.get(command) ?? execFileAsync(process.execPath, [program, command, '--help'])
  helpTexts.set(command, help)
  const { stdout } = await help
  for (const flag of args.filter((word) => word.startsWith('--'))) expect(stdout).toContain(flag)
}

/** Expects that every MICWATCH variable is one that the program reads or that a configuration file references. */
async function expectVariables(names: Iterable<string>): Promise<void> {
  const documented = await read('docs/configuration.md')
  const used = (await read('deploy/micwatch.yaml')) + (await read('deploy/Caddyfile'))
  for (const name of names) {
    if (!name.startsWith('MICWATCH_')) continue
    expect([
      name,
      documented.includes(`\`${name}\``) || used.includes(`{${name}}`) || new RegExp(`\\{\\$${name}[:}]`).test(used),
    ]).toEqual([name, true])
  }
}

describe.each(['deploy/compose.yaml', 'deploy/compose.cluster.yaml'])('%s', (file) => {
  it('starts the program with valid arguments, and mounts files that exist', async () => {
    const services = await readServices(file)
    const micwatchServices = services.filter(([, { image }]) => image === 'micwatch')
    expect(micwatchServices.length).toBeGreaterThan(0)
    for (const [, { command = [], environment = {}, build }] of micwatchServices) {
      await expectCommand(command)
      await expectVariables(Object.keys(environment))
      await access(join(root, 'deploy', build?.context ?? '', build?.dockerfile ?? ''))
    }
    const names = services.map(([name]) => name)
    for (const [, { volumes = [], depends_on = [] }] of services) {
      for (const volume of volumes)
        if (volume.startsWith('./')) await access(join(root, 'deploy', volume.split(':')[0] ?? ''))
      for (const name of Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)) expect(names).toContain(name)
    }
  })
})

// Reliability: 3.13.3.
it.each(['deploy/compose.yaml', 'deploy/compose.cluster.yaml'])('%s confines every container', async (file) => {
  for (const [name, service] of await readServices(file)) {
    expect([name, service]).toMatchObject([
      name,
      { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
    ])
    expect([name, service.cap_add ?? []]).toEqual([name, name === 'proxy' ? ['NET_BIND_SERVICE'] : []])
  }
})

// Reliability: 3.13.3.
it('keeps files with secrets out of the image and of the repository', async () => {
  const secrets = ['.env', 'deploy/.env', 'deploy/cluster.env', 'deploy/micwatch.env', 'a/b/.env', 'micwatch.yaml']
  const shared = ['deploy/cluster.env.example', 'deploy/micwatch.yaml', 'package.json', 'src/main.ts']
  for (const file of ['.dockerignore', '.gitignore']) {
    const folder = await createTestFolder()
    onTestFinished(folder.drop)
    await execFileAsync('git', ['init', '--quiet', folder.path])
    await writeFile(join(folder.path, '.gitignore'), await read(file))
    const args = ['-C', folder.path, 'check-ignore', ...secrets, ...shared]
    const { stdout } = await execFileAsync('git', args)
    expect([file, stdout.trim().split('\n')]).toEqual([file, secrets])
  }
})

it('deploy/kubernetes.yaml starts the program with valid arguments, and its resources match each other', async () => {
  const documents = parseAllDocuments(await read('deploy/kubernetes.yaml')).map((parsed) => parsed.toJS())
  const resourcesOf = (kind: string) => documents.filter((document) => document.kind === kind)
  const [config, service, ingress] = ['ConfigMap', 'Service', 'Ingress'].map((kind) => resourcesOf(kind)[0])
  for (const deployment of resourcesOf('Deployment')) {
    const { template, selector } = deployment.spec
    expect(template.metadata.labels).toMatchObject(selector.matchLabels)
    const [container] = template.spec.containers
    await expectCommand(container.args)
    await expectVariables(container.env.map(({ name }: { name: string }) => name))
    const volumes = template.spec.volumes.map(({ name }: { name: string }) => name)
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name)
  }
  expect(resourcesOf('Deployment').map((deployment) => deployment.spec.template.metadata.labels)).toContainEqual(
    service.spec.selector,
  )
  expect(ingress.spec.rules[0].http.paths[0].backend.service.name).toBe(service.metadata.name)
  const folder = await createTestFolder()
  try {
    const file = join(folder.path, 'micwatch.yaml')
    await writeFile(file, config.data['micwatch.yaml'])
    expect(readConfig({ config: file }, {}).server.allowed_hosts).toEqual([ingress.spec.rules[0].host])
  } finally {
    await folder.drop()
  }
})

it('deploy/micwatch.yaml is a valid configuration', () => {
  const config = readConfig({ config: join(root, 'deploy/micwatch.yaml') }, { MICWATCH_ALLOWED_HOSTS: 'venue.example' })
  expect(config.server).toMatchObject({
    host: '0.0.0.0',
    allowed_hosts: ['venue.example'],
    trusted_proxies: ['172.30.0.0/24'],
  })
})

// Reliability: 3.13.1.
it('deploy/compose.cluster.yaml does not start without its secrets, nor does the program', async () => {
  const services = await readServices('deploy/compose.cluster.yaml')
  const values = services.flatMap(([, { environment = {} }]) => Object.values(environment)).join('\n')
  for (const name of ['MICWATCH_SECRET_KEY', 'POSTGRES_PASSWORD']) {
    expect(values).toContain(`\${${name}:?`)
    expect(values).not.toContain(`\${${name}}`)
  }
  const installation = await createInstallation()
  const { code, err } = await installation.run(['serve', '--port', '0'], { MICWATCH_SECRET_KEY: '' })
  expect([code, err]).toEqual([2, 'micwatch: MICWATCH_SECRET_KEY: expected 64 hexadecimal digits\n'])
})

// Reliability: 3.13.1.
it('deploy/micwatch.service always restarts the program, and lets it drain', async () => {
  const unit = await read('deploy/micwatch.service')
  const [, head = '', service = ''] = /\[Unit\](.*)\[Service\](.*)\[Install\]/s.exec(unit) ?? []
  expect(head).toMatch(/^StartLimitIntervalSec=0$/m)
  expect(service).toMatch(/^Restart=always$/m)
  // A mount, or a file that the configuration names, may appear later.
  expect(service).not.toMatch(/^RestartPreventExitStatus=/m)
  const [, stopSeconds = ''] = /^TimeoutStopSec=(\d+)$/m.exec(service) ?? []
  const longestDrain = readConfig(
    { config: join(root, 'deploy/micwatch.yaml') },
    { MICWATCH_SERVER_DRAIN_SECONDS: '60' },
  )
  expect(Number(stopSeconds)).toBeGreaterThanOrEqual(longestDrain.server.drain_seconds + 10)
  // Errors that may be temporary have another exit code than a wrong configuration.
  const installation = await createInstallation({ database_url: 'postgres://nobody@127.0.0.1:9/none' })
  expect((await installation.run(['serve', '--port', '0'])).code).toBe(1)
  expect((await installation.run(['serve', '--host', 'no-such-host.invalid'])).code).toBe(1)
  expect((await installation.run(['serve', '--port', 'high'])).code).toBe(2)
})

// Conformance: C-17.67.
it('deploy/micwatch.service has an exposure of less than 3.0, and lets Node.js list the network interfaces', async () => {
  const unit = join(root, 'deploy/micwatch.service')
  expect(await read('deploy/micwatch.service')).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m)
  expect(await lintUnit(unit)).toEqual([])
})

// Conformance: C-17.65.
it('deploy/micwatch.service reloads the configuration with SIGHUP', async () => {
  expect(await read('deploy/micwatch.service')).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m)
})

it('deploy/micwatch.service starts the program with valid arguments', async () => {
  const unit = await read('deploy/micwatch.service')
  const [, args = ''] = /^ExecStart=\S+ \S+main\.js (.*)$/m.exec(unit) ?? []
  await expectCommand(args.split(' '))
  await expectVariables([...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name = '']) => name))
})

it('deploy/Dockerfile copies files and runs scripts that exist', async () => {
  const lines = (await read('deploy/Dockerfile')).split('\n')
  const { scripts } = JSON.parse(await read('package.json'))
  for (const line of lines) {
    for (const [, script = ''] of line.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(script)
    const [, files = ''] = /^COPY (?!--)(.*) \S+$/.exec(line) ?? []
    for (const path of files.split(' ').filter(Boolean)) await access(join(root, path))
  }
  const distFiles = await readdir(join(root, 'dist'))
  expect(distFiles).toEqual(expect.arrayContaining(['main.js', 'web']))
})

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly livenessProbe?: { readonly exec: { readonly command: readonly string[] } }
}

// Conformance: C-26.13.
it('the health checks of the image and of Kubernetes read the file and the variables that serve reads', async () => {
  const containers: Container[] = parseAllDocuments(await read('deploy/kubernetes.yaml'))
    .map((parsed) => parsed.toJS())
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ spec }) => spec.template.spec.containers)
  const services = [
    ...(await readServices('deploy/compose.yaml')),
    ...(await readServices('deploy/compose.cluster.yaml')),
  ]
  const servers = [
    ...containers.map(({ args, env }) => ({ args, variables: env.map(({ name }) => name) })),
    ...services.map(([, { command = [], environment = {} }]) => ({
      args: command,
      variables: Object.keys(environment),
    })),
  ].filter(({ args }) => args[0] === 'serve')
  expect(servers).toHaveLength(4)
  for (const { args, variables } of servers) {
    // A health check has no flags of `serve`.
    expect(args.filter((arg) => arg.startsWith('--') && arg !== '--no-poll')).toEqual([])
    expect(variables).toContain('MICWATCH_CONFIG')
  }
  const [, ofImage = ''] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(await read('deploy/Dockerfile')) ?? []
  const probes = containers.flatMap(({ livenessProbe }) => (livenessProbe ? [livenessProbe.exec.command] : []))
  const commands: readonly (readonly string[])[] = [JSON.parse(ofImage), ...probes]
  expect(commands).toHaveLength(2)

  const installation = await createInstallation()
  const server = { host: '0.0.0.0', port: 1, mount: '/mic' }
  await installation.write('hall.yaml', JSON.stringify({ server, tls: 'auto' }))
  const variables = { MICWATCH_CONFIG: 'hall.yaml', MICWATCH_PORT: String(await freePort()) }
  const check = async ([, , ...args]: readonly string[]) => (await installation.run(args, variables)).code
  expect(await Promise.all(commands.map(check))).toEqual([1, 1])
  installation.start(['serve'], variables)
  for (const command of commands) await until('the health check succeeds', async () => (await check(command)) === 0)
})

it('docs/several-machines.md names files and commands that exist', async () => {
  const page = await read('docs/several-machines.md')
  for (const [path] of page.matchAll(/deploy\/[\w.]+/g)) await access(join(root, path))
  const { stdout } = await execFileAsync(process.execPath, [program, '--help'])
  for (const [, command = ''] of page.matchAll(/^micwatch (\w+)|`micwatch (\w+)/gm)) expect(stdout).toContain(command)
})
