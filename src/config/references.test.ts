// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of references
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../config.ts'

function createFolder(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = mkdtempSync(join(tmpdir(), 'micwatch-references-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

const read = (text: string, env = {}, isOffline = false) =>
  readConfig({ config: join(createFolder({ 'micwatch.yaml': text }), 'micwatch.yaml') }, env, { isOffline })

// Conformance: C-1.12, C-1.21.
test('a reference has the type of its key, quoted or not', () => {
  const text = `
server:
  port: \${PORT}
  strict_transport: "\${STRICT:-false}"
  allowed_hosts: \${HOSTS}
  public_url: \${PUBLIC_URL:-}
  mount: \${MOUNT:-}
tls: '\${TLS:-off}'
public_read: \${EMPTY:-1}
data_dir: \${FOLDER}
rate_limit: { overrides: { "POST /api/refresh/": { max_requests: "\${PORT}", window_seconds: 60 } } }
history_remote_write: { url: "http://a", interval_seconds: "\${PORT:-5}" }
osc: { strips: [{ type: x32, host: a, port: "\${PORT}", slots: { 1: "\${SLOT:-7}" } }] }
manufacturers:
  - code: shure
    api_enabled: "\${EMPTY:-true}"
    config:
      shared_key: \${NUMBER}
      TIMEOUT: \${SECONDS}
      ssl_verify: \${VERIFY:-false}
      calls_per_second: \${RATE:-2.5}
      stream_timeout: \${SECONDS}
      enabled: \${VERIFY:-true}
      devices: ["\${HOSTS}", { url: "\${HOSTS}", name: "\${NUMBER}" }]
`
  const env = { PORT: '80', HOSTS: 'a.example, b.example', EMPTY: '', FOLDER: '0042', NUMBER: '0042', SECONDS: '7' }
  const config = read(text, env)
  expect(config).toMatchObject({
    server: {
      port: 80,
      strict_transport: false,
      allowed_hosts: ['a.example', 'b.example'],
      public_url: null,
      mount: '',
    },
    tls: null,
    public_read: true,
    data_dir: '0042',
    rate_limit: { overrides: { 'POST /api/refresh/': { max_requests: 80 } } },
    history_remote_write: { interval_seconds: 80 },
    osc: { strips: [{ port: 80, slots: new Map([[1, 7]]) }] },
    manufacturers: [
      {
        api_enabled: true,
        config: {
          shared_key: '0042',
          TIMEOUT: 7,
          ssl_verify: false,
          calls_per_second: 2.5,
          stream_timeout: 7,
          enabled: true,
          devices: ['a.example, b.example', { url: 'a.example, b.example', name: '0042' }],
        },
      },
    ],
  })
})

test.each([
  ['port: ${PORT}', {}, 'server.port: the environment variable PORT is not set'],
  ['port: ${PORT}', { PORT: '' }, 'server.port: the environment variable PORT is empty; ${PORT:-} permits that'],
  ['port: ${PORT}', { PORT: 'high' }, 'server.port: expected a whole number from 0 to 65535'],
  ['port: ${POST-X}', {}, 'server.port: ${POST-X} is not a reference; expected ${NAME}, ${NAME:-default}'],
  ['mount: ${file:/nowhere}', {}, 'server.mount: /nowhere does not exist; check the path'],
  [
    'mount: ${credential:a}',
    {},
    'server.mount: the credential a is not available, because CREDENTIALS_DIRECTORY is not',
  ],
  ['mount: ${credential:../a}', { CREDENTIALS_DIRECTORY: '/' }, '../a is not the name of a credential'],
])('server: {%s} with %j is an error', (line, env, message) => {
  expect(() => read(`server:\n  ${line}`, env)).toThrow(message)
})

// Conformance: C-1.21, C-1.24.
test('files and credentials lose one final line end, and must be UTF-8', () => {
  const folder = createFolder({ a: 'one\n\n', b: 'two\r\n', c: 'ok\nna\xefve', e: Uint8Array.of(0x61, 0x0a, 0xe9) })
  const env = { CREDENTIALS_DIRECTORY: folder }
  expect(
    read(`data_dir: \${file:${folder}/a}\nmqtt:\n  url: mqtt://a\n  password: \${credential:b}`, env),
  ).toMatchObject({
    data_dir: 'one\n',
    mqtt: { password: 'two' },
  })
  expect(() => read(`data_dir: \${file:${folder}/e}`)).toThrow(
    `${folder}/e: line 2 is not UTF-8; save the file with the encoding UTF-8`,
  )
  expect(() => readConfig({ config: join(folder, 'e') }, {})).toThrow('line 2 is not UTF-8')
})

// Conformance: C-26.40.
test('a file with a value that is empty or too large is named', () => {
  const folder = createFolder({ empty: '', line: '\n', large: 'a'.repeat(65_537) })
  for (const name of ['empty', 'line']) {
    expect(() => read(`mqtt: { url: mqtt://a, password: "\${file:${folder}/${name}}" }`)).toThrow(
      `mqtt.password: ${folder}/${name} is empty; write the value into it`,
    )
  }
  expect(() => readConfig({}, { MICWATCH_DATA_DIR_FILE: `${folder}/empty` })).toThrow('MICWATCH_DATA_DIR_FILE: ')
  for (const path of [`${folder}/large`, '/dev/zero']) {
    expect(() => read(`data_dir: \${file:${path}}`)).toThrow(`${path} is larger than 64 kB`)
  }
})

test('commands that contact no system skip what refers to a missing file or credential', () => {
  const text =
    'mqtt: { url: mqtt://a, password: "${credential:b}" }\nmanufacturers: [{ code: shure, config: { shared_key: "${file:/nowhere}" } }]'
  expect(read(text, {}, true)).toMatchObject({ mqtt: null, manufacturers: [] })
})

// Conformance: C-1.22.
test('<VARIABLE>_FILE names a file with the value, and excludes the variable', () => {
  const folder = createFolder({ port: '8081\n', key: `${'a'.repeat(64)}\n`, hosts: 'a.example,b.example' })
  const env = {
    MICWATCH_PORT_FILE: `${folder}/port`,
    MICWATCH_SECRET_KEY_FILE: `${folder}/key`,
    MICWATCH_SERVER_ALLOWED_HOSTS_FILE: `${folder}/hosts`,
  }
  expect(readConfig({}, env)).toMatchObject({
    secret_key: 'a'.repeat(64),
    server: { port: 8081, allowed_hosts: ['a.example', 'b.example'] },
  })
  for (const name of ['MICWATCH_PORT', 'MICWATCH_SERVER_PORT']) {
    expect(() => readConfig({}, { ...env, [name]: '1' })).toThrow(
      `${name}: MICWATCH_PORT_FILE is set too; remove one of them`,
    )
  }
  expect(() => readConfig({}, { MICWATCH_PORT_FILE: '/nowhere' })).toThrow(
    'MICWATCH_PORT_FILE: /nowhere does not exist',
  )
  expect(() => readConfig({}, { MICWATCH_PORT_FILE: `${folder}/hosts` })).toThrow(
    'MICWATCH_PORT_FILE: expected a whole',
  )
})
