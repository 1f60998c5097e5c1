import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConfigError, inspectConfig, readConfig } from './config.ts'

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'micwatch-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'micwatch.yaml')
  writeFileSync(path, content)
  return path
}

function errorOf(content: string, env = {}): string {
  try {
    readConfig({ config: fileWith(content) }, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replace(/^.*micwatch\.yaml/, 'micwatch.yaml')
    throw error
  }
  return 'accepted'
}

const frameAncestors = { server: { frame_ancestors: ['https://a.example', 'https://b.example'] } }

describe('readConfig', () => {
  test('accepts tls: off, auto, or certificate files', () => {
    for (const [written, read] of [
      ['off', null],
      ['false', null],
      ['auto', 'auto'],
      ['{cert: a, key: b}', { cert: 'a', key: 'b' }],
    ] as const) {
      expect(readConfig({ config: fileWith(`tls: ${written}`) }, {}).tls).toEqual(read)
    }
    expect(errorOf('tls: on')).toBe('micwatch.yaml: tls: expected off, auto, or {cert: file, key: file}')
  })

  // Conformance: S-2.8, S-8.9, C-1.4.
  test('has the documented defaults', () => {
    expect(readConfig({}, {})).toMatchObject({
      file: null,
      server: { host: '127.0.0.1', port: 8080, mount: '' },
      database_url: 'sqlite:data/micwatch.db',
      rate_limit: { max_requests: 120, window_seconds: 60 },
      settings: { DEFAULT_POLLING_INTERVAL: 10, WEBSOCKET_BROADCASTING: true, CACHE_TIMEOUT: 30 },
    })
  })

  // Conformance: C-1.1, C-1.5.
  test('gives flags precedence over the environment, and the environment over the file', () => {
    const config = fileWith('server: {port: 1000, host: 10.0.0.1, mount: /file/}\ndata_dir: /file')
    const env = { MICWATCH_PORT: '2000', MICWATCH_DATA_DIR: '/env', MICWATCH_REQUIRE_LOGIN: 'true' }
    expect(readConfig({ config, port: '3000' }, env)).toMatchObject({
      server: { port: 3000, host: '10.0.0.1', mount: '/file' },
      data_dir: '/env',
      database_url: 'sqlite:/env/micwatch.db',
      require_login: true,
    })
  })

  // Conformance: C-1.12.
  test('replaces a reference to an environment variable with its value', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration file's syntax for an environment variable
    const content = 'manufacturers: [{code: shure, config: {shared_key: "${SHURE_KEY}"}}]'
    const { manufacturers } = readConfig({ config: fileWith(content) }, { SHURE_KEY: 'secret' })
    expect(manufacturers[0]?.config).toEqual({ shared_key: 'secret' })
    expect(errorOf(content)).toBe(
      'micwatch.yaml: manufacturers.0.config.shared_key: the environment variable SHURE_KEY is not set',
    )
  })

  test('skips manufacturers with missing variables when offline, and requires all other variables', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration file's syntax for an environment variable
    const content = 'manufacturers: [{code: shure, config: {devices: ["${RX}"]}}, {code: sennheiser}]'
    const offline = (text: string) => readConfig({ config: fileWith(text) }, {}, { isOffline: true })
    expect(offline(content).manufacturers).toEqual([{ code: 'sennheiser' }])
    const name = content.replace('code: sennheiser', `code: sennheiser, name: "$\{NAME}"`)
    expect(() => offline(name)).toThrow(/manufacturers\.1\.name: the environment variable NAME is not set/)
    expect(() => offline(`database_url: "$\{URL}"`)).toThrow(/database_url: the environment variable URL is not set/)
  })

  // Conformance: C-1.20.
  test('gives MICWATCH_PUBLIC_URL precedence over the file', () => {
    const config = fileWith('server: {public_url: "https://mics.example/"}')
    expect(readConfig({}, {}).server.public_url).toBeNull()
    expect(readConfig({ config }, {}).server.public_url).toBe('https://mics.example/')
    const env = { MICWATCH_PUBLIC_URL: 'http://wall.example:8000' }
    expect(readConfig({ config }, env).server.public_url).toBe('http://wall.example:8000')
    expect(readConfig({ config, mount: '/mic/' }, env).server.public_url).toBe('http://wall.example:8000/mic')
    expect(() => readConfig({}, { MICWATCH_PUBLIC_URL: 'ftp://a' })).toThrow('MICWATCH_PUBLIC_URL: expected an address')
  })

  test('replaces lists in the file with those in the environment', () => {
    const config = fileWith('server: {allowed_hosts: [a.example], trusted_proxies: [10.0.0.0/8]}')
    const env = { MICWATCH_ALLOWED_HOSTS: 'b.example, 192.168.1.20,,', MICWATCH_TRUSTED_PROXIES: '172.30.0.0/24' }
    expect(readConfig({ config }, env).server).toMatchObject({
      allowed_hosts: ['b.example', '192.168.1.20'],
      trusted_proxies: ['172.30.0.0/24'],
    })
    expect(readConfig({ config }, { MICWATCH_ALLOWED_HOSTS: '' }).server.allowed_hosts).toEqual(['a.example'])
  })
})

describe('readConfig, checking values', () => {
  test('requires trusted_proxies to be networks', () => {
    expect(errorOf('server: {trusted_proxies: [10.0.0.0/8, proxy.example]}')).toBe(
      'micwatch.yaml: server.trusted_proxies.1: expected a network in CIDR form, such as 10.0.0.0/8',
    )
  })

  test.each(['300.1.1.1', '10.0.0', '127'])('rejects the invalid host %s', (host) => {
    expect(() => readConfig({ host }, {})).toThrow('--host: expected a host name or address')
    expect(errorOf(`server: {host: "${host}"}`)).toBe('micwatch.yaml: server.host: expected a host name or address')
  })

  test.each(['127.0.0.1', '::1', 'stage-left', 'mics.example'])('accepts the host %s', (host) => {
    expect(readConfig({ host }, {}).server.host).toBe(host)
  })

  test.each([
    ['server: {prot: 1}', 'micwatch.yaml: server.prot: unknown key; did you mean port?'],
    ['server: {port: high}', 'micwatch.yaml: server.port: expected a whole number from 0 to 65535'],
    ['server: 5', 'micwatch.yaml: server: expected a section of keys'],
    [
      'settings: {CACHE_TIMEOUT: yes}',
      'micwatch.yaml: settings.CACHE_TIMEOUT: expected a whole number from 0 to 86400',
    ],
    [
      'manufacturers: [{name: x}]',
      'micwatch.yaml: manufacturers.0: expected a manufacturer with at least a code (code is missing)',
    ],
    [
      'manufacturers: [{code: shure}, {code: sennheiser}, {code: shure}]',
      'micwatch.yaml: manufacturers.2.code: expected every code once; shure is repeated',
    ],
    ['database_url: mysql://x', 'micwatch.yaml: database_url: expected sqlite:<file> or postgres://…'],
    [
      'discovery_ranges: [203.0.113.0/24, 10.0.0.0/99]',
      'micwatch.yaml: discovery_ranges.1: expected a network in CIDR form, such as 10.0.0.0/8',
    ],
    [
      'discovery_interfaces: {include: [eth0/24]}',
      'micwatch.yaml: discovery_interfaces.include.0: expected a name such as eth0 or en*',
    ],
    [
      'discovery_ranges: [300.0.0.0/8]',
      'micwatch.yaml: discovery_ranges.0: expected a network in CIDR form, such as 10.0.0.0/8',
    ],
    [
      'server: {frame_ancestors: ["https://wall.example; script-src *"]}',
      "micwatch.yaml: server.frame_ancestors.0: expected a list of origins such as https://wall.example, or 'self'",
    ],
    [
      'server: {port: 8443, redirect_port: 8443}\ntls: auto',
      'micwatch.yaml: server.redirect_port: must differ from port',
    ],
    [
      'server: {strict_transport: true}\ntls: auto',
      'micwatch.yaml: server.strict_transport: requires tls: {cert, key}',
    ],
    [
      'server: {public_url: mics.example}',
      'micwatch.yaml: server.public_url: expected an address such as https://mics.example',
    ],
    [
      'server: {public_url: "https://mics.example/?a=1"}',
      'micwatch.yaml: server.public_url: expected an address such as https://mics.example',
    ],
    ['- just a list', 'micwatch.yaml: expected a section of keys'],
  ])('%s', (content, message) => {
    expect(errorOf(content)).toBe(message)
  })

  // Conformance: C-1.23.
  test('treats an empty variable as not set', () => {
    const env = { MICWATCH_CONFIG: '', MICWATCH_PORT: '', MICWATCH_SECRET_KEY_FILE: '' }
    expect(readConfig({}, env)).toEqual(readConfig({}, {}))
    expect(() => readConfig({}, { MICWATCH_SECRET_KEY: '' })).toThrow(
      'MICWATCH_SECRET_KEY: expected 64 hexadecimal digits',
    )
  })

  // Conformance: C-1.24.
  // Names that a browser never sends, and addresses that would be trusted or opened by nobody.
  test.each([
    ['allowed_hosts: [a.example, "https://mics.example/"]', 'allowed_hosts.1: expected a host name', 'mics.example'],
    ['allowed_hosts: ["mics.example:8080"]', 'allowed_hosts.0: expected a host name', 'mics.example'],
    ['allowed_hosts: ["[fe80::0:1]:80"]', 'allowed_hosts.0: expected a host name', 'fe80::1'],
    ['allowed_hosts: ["münchen.example"]', 'allowed_hosts.0: expected a host name', 'xn--mnchen-3ya.example'],
    ['allowed_hosts: ["10.0.0.1/24"]', 'allowed_hosts.0: expected a host name', '10.0.0.1'],
    ['allowed_hosts: ["*.example"]', 'allowed_hosts.0: *.example would match no host', 'list every name'],
    ['allowed_hosts: [""]', 'allowed_hosts.0: expected a host name', 'such as mics.example'],
    ['trusted_proxies: [172.30.0.0]', 'trusted_proxies.0: 172.30.0.0 is a network without', '172.30.0.0/24'],
    ['trusted_proxies: ["fd00::"]', 'trusted_proxies.0: fd00:: is a network without', 'fd00::/64'],
    ['trusted_proxies: [10.0.0.0/33]', 'trusted_proxies.0: expected a network in CIDR form', '10.0.0.0/8'],
    [
      'public_url: "https://mics.example/mic/"',
      'public_url: expected an address without a path',
      'server.mount to /mic',
    ],
  ])('rejects server: {%s} and says how to write it', (content, problem, remedy) => {
    const error = errorOf(`server: {${content}}`)
    expect(error.slice(0, `micwatch.yaml: server.${problem}`.length)).toBe(`micwatch.yaml: server.${problem}`)
    expect(error).toContain(remedy)
  })

  test('accepts names in any case, with a final dot, and single addresses', () => {
    const allowed_hosts = ['Mics.Example', 'mics.local.', 'stage_left', 'fe80::1', '10.0.0.1']
    const server = { allowed_hosts, trusted_proxies: ['127.0.0.1', '::1', '10.0.0.0/8'] }
    expect(errorOf(JSON.stringify({ server }))).toBe('accepted')
    expect(() => readConfig({}, { MICWATCH_ALLOWED_HOSTS: 'a.example, http://b.example' })).toThrow(
      'MICWATCH_ALLOWED_HOSTS: expected a host name or address without scheme, port and path: write b.example',
    )
  })

  // Conformance: C-1.3.
  test('reports where a file is invalid', () => {
    expect(errorOf('server: {')).toMatch(/^micwatch\.yaml: not valid YAML: .*line/)
    expect(() => readConfig({ config: '/nowhere.yaml' }, {})).toThrow('/nowhere.yaml does not exist; check the path')
  })

  // Conformance: C-1.5.
  test('names the flag or variable that is invalid', () => {
    expect(() => readConfig({ port: 'x' }, {})).toThrow('--port: expected a whole number from 0 to 65535')
    expect(() => readConfig({}, { MICWATCH_PORT: '70000' })).toThrow('MICWATCH_PORT: expected a whole number')
    const env = { MICWATCH_TRUSTED_PROXIES: '10.0.0.0/8, proxy.example' }
    expect(() => readConfig({}, env)).toThrow('MICWATCH_TRUSTED_PROXIES: expected a network in CIDR form')
  })

  const interfaces = { discovery_interfaces: { include: ['eth1', 'en*'], exclude: [] } }
  // Conformance: C-17.1.
  test.each([
    ['MICWATCH_SERVER_HOST', '10.0.0.1', { server: { host: '10.0.0.1' } }],
    ['MICWATCH_SERVER_FRAME_ANCESTORS', 'https://a.example, https://b.example', frameAncestors],
    ['MICWATCH_SERVER_DRAIN_SECONDS', '5', { server: { drain_seconds: 5 } }],
    ['MICWATCH_LOG', 'debug', { log: 'debug' }],
    ['MICWATCH_TLS', 'auto', { tls: 'auto' }],
    ['MICWATCH_PUBLIC_READ', '1', { public_read: true }],
    ['MICWATCH_DISCOVERY_RANGES', '203.0.113.0/24', { discovery_ranges: ['203.0.113.0/24'] }],
    ['MICWATCH_DISCOVERY_INTERFACES_INCLUDE', 'eth1, en*', interfaces],
    ['MICWATCH_RATE_LIMIT_MAX_REQUESTS', '7', { rate_limit: { max_requests: 7, window_seconds: 30 } }],
    ['MICWATCH_SETTINGS_CACHE_TIMEOUT', '3', { settings: { CACHE_TIMEOUT: 3, WEBSOCKET_BROADCASTING: false } }],
  ])('reads %s, which replaces the value of the file', (name, value, expected) => {
    const config = fileWith(
      `{ server: { host: 10.0.0.2, frame_ancestors: ["'self'"], drain_seconds: 1 }, log: warn, tls: off, ` +
        'public_read: false, discovery_ranges: [10.0.0.0/8], rate_limit: { max_requests: 1, window_seconds: 30 }, ' +
        'settings: { CACHE_TIMEOUT: 1, WEBSOCKET_BROADCASTING: false } }',
    )
    expect(readConfig({ config }, { [name]: value })).toMatchObject(expected)
  })

  // Conformance: C-17.1.
  test('has a documented variable for every scalar and list of the file', () => {
    const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')
    const rows = page.split('\n').filter((line) => /^\| `[^|]+` \|( `--[^|]+` \|| \|) `MICWATCH_/.test(line))
    const names = rows.flatMap((row) =>
      [...(row.split('|')[3] ?? '').matchAll(/`(MICWATCH_\w+)`/g)].map(([, name = '']) => name),
    )
    expect(names.length).toBeGreaterThan(20)
    const anyText = [
      'MICWATCH_DATA_DIR',
      'MICWATCH_SERVER_NAME',
      'MICWATCH_ALLOWED_HOSTS',
      'MICWATCH_PROVISIONING',
      'MICWATCH_AUDIO_INTERFACES',
    ]
    for (const name of names) {
      const acceptsAnyText = anyText.includes(name)
      if (!acceptsAnyText) expect(() => readConfig({}, { [name]: '.' }), name).toThrow(`${name}: expected`)
    }
  })

  // Conformance: C-17.2.
  test('names the variable that was read in an error, and prefers the shorter name', () => {
    expect(() => readConfig({}, { MICWATCH_SERVER_PORT: 'x' })).toThrow('MICWATCH_SERVER_PORT: expected a whole number')
    const env = { MICWATCH_HOST: '10.0.0.1', MICWATCH_SERVER_HOST: '10.0.0.2' }
    expect(readConfig({}, env).server.host).toBe('10.0.0.1')
    expect(() => readConfig({}, { MICWATCH_SERVER_DRAIN_SECONDS: '61' })).toThrow(
      'MICWATCH_SERVER_DRAIN_SECONDS: expected a whole number from 0 to 60',
    )
  })

  // Conformance: C-17.2.
  test('has no variable for manufacturers and nested objects', () => {
    const env = {
      MICWATCH_MANUFACTURERS: 'shure',
      MICWATCH_RATE_LIMIT_OVERRIDES: 'x',
      MICWATCH_HISTORY_REMOTE_WRITE: 'x',
    }
    expect(readConfig({}, env)).toEqual(readConfig({}, {}))
  })
})

// Conformance: C-26.23.
test('reads heartbeat from the file and the environment, with bounds', () => {
  const url = 'https://hc-ping.com/6f1f9f5c?source=micwatch'
  const config = fileWith(`heartbeat: {url: "${url}"}`)
  expect(readConfig({}, {}).heartbeat).toBeNull()
  expect(readConfig({ config }, {}).heartbeat).toEqual({ url, interval: 60 })
  expect(readConfig({ config }, { MICWATCH_HEARTBEAT_INTERVAL: '12' }).heartbeat).toEqual({ url, interval: 12 })
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration file's syntax for an environment variable
  const incomplete = fileWith('heartbeat: {url: "${SWITCH}"}')
  expect(readConfig({ config: incomplete }, {}, { isOffline: true }).heartbeat).toBeNull()
})

// Conformance: C-16.45, C-16.46, C-16.92, C-26.23.
test.each([
  ['heartbeat: {interval: 30}', 'heartbeat: url is missing'],
  ['heartbeat: {interval: 11}', 'heartbeat.interval: expected a whole number from 12 to 86400'],
  ['heartbeat: {url: "ping.example"}', 'heartbeat.url: expected an address such as https://hc-ping.com/<uuid>'],
  ['osc: {listen: "9010"}', 'osc.listen: expected an address and a port, such as 0.0.0.0:9010'],
  ['osc: {targets: [{host: a}]}', 'osc.targets.0: expected {host, port, transport} (port is missing)'],
  ['mqtt: {prefix: mics}', 'mqtt: url is missing'],
  ['oidc: {issuer: "https://a"}', 'oidc: client_id is missing'],
  ['oidc: {issuer: "http://login.example"}', 'oidc.issuer: expected an https address such as https://login.example'],
  ['oidc: {issuer: "https://a/?x"}', 'oidc.issuer: expected an https address'],
  ['oidc: {roles: {crew: owner}}', 'oidc.roles.crew: expected viewer, operator, admin'],
  ['oidc: {roles: {}}', 'oidc.roles: expected a section of values of the claim and their roles'],
  ['oidc: {role_claims: x}', 'oidc.role_claims: unknown key'],
  ['mqtt: {url: "http://broker"}', 'mqtt.url: expected an address such as mqtt://broker.example:1883'],
])('rejects %s', (text, problem) => {
  expect(() => readConfig({ config: fileWith(text) }, {})).toThrow(problem)
})

// Conformance: C-16.92.
test('reads oidc from the file and the environment, with http on loopback', () => {
  const file = fileWith('oidc: {issuer: "http://127.0.0.1:9000", client_id: m, roles: {crew: operator}}')
  const env = { MICWATCH_OIDC_CLIENT_SECRET: 'x', MICWATCH_OIDC_SCOPES: 'groups' }
  expect(readConfig({ config: file }, env).oidc).toMatchObject({
    issuer: 'http://127.0.0.1:9000',
    client_secret: 'x',
    scopes: ['openid', 'groups'],
    roles: { crew: 'operator' },
  })
})

// Conformance: C-16.45, C-16.46.
test('reads osc and mqtt from the environment', () => {
  const env = { MICWATCH_MQTT_URL: 'mqtt://broker', MICWATCH_MQTT_PASSWORD: 'x', MICWATCH_OSC_LISTEN: '0.0.0.0:9010' }
  expect(readConfig({}, env)).toMatchObject({
    mqtt: { url: 'mqtt://broker', password: 'x' },
    osc: { listen: { host: '0.0.0.0', port: 9010 } },
  })
})

// Conformance: C-26.9.
test('inspectConfig finds every problem, with its position and the key or value that was probably meant', () => {
  const file = fileWith(`server:
  prot: 8080
  host: 300.1.1.1
  allowed_hosts: [a.example, "https://b.example"]
log: inof
mqtt: { url: "\${MQTT_URL}" }
oidc: { issuer: "https://login.example" }
manufacturers:
  - code: shure
  - code: shure
`)
  const { config, problems } = inspectConfig({ config: file, mount: 'x' }, { MICWATCH_PORT: '80a' })
  expect(problems.map(({ line, column, key, suggestion }) => [line, column, key, suggestion])).toEqual([
    [6, 9, 'mqtt.url', null],
    [2, 3, 'server.prot', 'did you mean port?'],
    [3, 3, 'server.host', null],
    [5, 1, 'log', 'did you mean info?'],
    [4, 30, 'server.allowed_hosts.1', null],
    [null, null, 'MICWATCH_PORT', null],
    [null, null, '--mount', null],
    [10, 5, 'manufacturers.1.code', null],
    [7, 1, 'oidc', null],
  ])
  expect(problems.every((problem) => problem.file === (problem.line === null ? null : file))).toBe(true)
  expect(config.server.port).toBe(8080)
  const yaml = inspectConfig({ config: fileWith('a: [\nb: {\n') }, {}).problems
  expect(yaml.map(({ line, column }) => [line, column])).toEqual([
    [2, 1],
    [3, 1],
  ])
})

// Conformance: C-26.9.
test('inspectConfig finds more problems than a request may have', () => {
  const wrong = Array.from({ length: 20 }, (_, index) => `key_${index}: 1`).join('\n')
  const { problems } = inspectConfig({ config: fileWith(`${wrong}\nbackup: { folder: "", keep: 0 }\n`) }, {})
  expect(problems).toHaveLength(22)
  expect(problems.slice(-2).map(({ key }) => key)).toEqual(['backup.keep', 'backup.folder'])
})

test('a variable replaces one key of discovery_interfaces', () => {
  const file = fileWith('discovery_interfaces: { include: [eth0], exclude: [docker0] }\n')
  const env = { MICWATCH_DISCOVERY_INTERFACES_INCLUDE: 'eth1' }
  expect(readConfig({ config: file }, env).discovery_interfaces).toEqual({ include: ['eth1'], exclude: ['docker0'] })
})
