/** `export` and `import`: what users have configured, moved to another machine or imported on the same one. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { importInstallation } from '../src/actions/import-installation.ts'
import { parseInstallationFile } from '../src/cli/installation-file.ts'
import type { Actor } from '../src/domain/access/access.ts'
import { createDestinationsExcluding } from '../src/manufacturers/sources.ts'
import { openDatabase } from '../src/storage/database.ts'
import { configFor, createInstallation, startApp, startShure, until, withoutPush } from './app.ts'
import { type Engine, engines } from './databases.ts'
import { createPostgresDatabase } from './postgres.ts'
import { timeLimit } from './time-limit.ts'
import { tokenHeaders } from './tokens.ts'

const slowTestMs = 90_000

const actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }

async function createInstallationOn(engine: Engine, manufacturers: readonly object[] = []) {
  const database = engine === 'postgres' ? await createPostgresDatabase(inject('postgresUrl')) : null
  onTestFinished(async () => database?.drop())
  const installation = await createInstallation({ manufacturers, ...(database && { database_url: database.url }) })
  const headers = async (role: 'admin') => {
    const db = await openDatabase({ url: database?.url ?? installation.databaseUrl })
    try {
      return await tokenHeaders({ db }, role)
    } finally {
      await db.close()
    }
  }
  return { ...installation, headers }
}

type Installation = Awaited<ReturnType<typeof createInstallationOn>>

/** Starts a service with two receivers of two channels each, and configures it as its users would. */
async function configureService(installation: Installation) {
  const service = await installation.serve()
  const receivers = await until('both receivers are known', async () => {
    const known = await service.receivers()
    return known.length === 2 && known.every(({ channels }) => channels.length === 2) && known
  })
  const headers = await installation.headers('admin')
  const json = { ...headers, 'content-type': 'application/json' }
  const patch = (path: string, body: object) =>
    service.send('PATCH', path, { headers: json, body: JSON.stringify(body) })
  const hall = (await service.post('/api/admin/locations/', { name: 'Hall', description: 'The big one' }, headers)).json
  const rack = (await service.post('/api/admin/locations/', { name: 'Rack', parent: hall.id }, headers)).json
  const [first, second] = receivers
  await patch(`/api/admin/receivers/${first?.id}/`, { name: 'Stage left', location: rack.id })
  const channel = second?.channels[1]
  expect((await patch(`/api/channels/${channel?.id}/`, { slot: 40 })).status).toBe(200)
  const group = { title: 'Band', slots: [1, 40], manufacturer: 'shure' }
  const band = (await service.post('/api/group/', group)).json
  await service.post(`/api/config/?group=${band.id}`, { key: 'RF_WEAK_DBM', value: '-80' })
  await service.post(`/api/config/?group=${band.id}`, { key: 'MUTE_ATTENTION', value: 'always' })
  const silence = {
    ...{ channels: [channel?.id], groups: [band.id], kinds: ['rf_weak'], reason: 'Changeover' },
    until: new Date(Date.now() + 3_600_000).toISOString(),
  }
  expect((await service.post('/api/silences/', silence)).status).toBe(201)
  await service.post('/api/config/', { key: 'alert_battery_threshold', value: '33' })
  await service.post('/api/config/', { key: 'polling_interval', value: '2', manufacturer: 'shure' })
  const image = `data:image/jpeg;base64,/9j/${'A'.repeat(400)}`
  const ann = (await service.post('/api/performers/', { name: 'Ann', notes: 'No: 1 #', picture: image })).json
  const units = (await service.get('/api/units/')).json
  const unit = units.find((unit: { base_chassis: number; channel: number }) => unit.base_chassis === first?.id)
  await service.post('/api/assignments/', { performer: ann.id, wireless_unit: unit.id, role: 'Nora' })
  const comms = { slot: 50, kind: 'wireless', name: 'Comms', frequency: '1900.125', note: 'Two packs' }
  expect((await service.post('/api/placeholders/', comms)).status).toBe(201)
  const plan = { title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z', ends_at: '2026-11-23T16:30:00.000Z' }
  const show = (await service.post('/api/shows/', { ...plan, group_ids: [band.id], notes: 'Understudy' })).json
  await service.post(`/api/shows/${show.id}/start`, undefined)
  const scene = (await service.post(`/api/shows/${show.id}/scenes/`, { title: 'Act 1' })).json
  expect((await service.post(`/api/shows/${show.id}/scenes/${scene.id}/recall`, {})).status).toBe(200)
  const rehearsal = (await service.post('/api/shows/', { title: 'Rehearsal' })).json
  const marker = { time: '2026-11-22T20:00:00.000Z', channel_id: channel?.id, text: 'Swapped the pack' }
  expect((await service.post('/api/markers/', marker)).status).toBe(201)
  for (const [path, more] of [['begin'], ['', { result: 'fail', note: 'Crackles' }], ['begin']] as const) {
    const body = { channel_id: channel?.id, ...more }
    expect((await service.post(`/api/shows/${rehearsal.id}/checks/${path}`, body)).status).toBeLessThan(300)
  }
  const notification = {
    name: 'Crew',
    type: 'ntfy',
    config: { url: 'https://ntfy.example', topic: 'rf', token: 'tk_1' },
  }
  const crew = (await service.post('/api/admin/notification-channels/', notification, headers)).json
  const webhook = { name: 'Desk', type: 'webhook', config: { url: 'http://10.0.0.9:8000/hook' }, enabled: false }
  const desk = (await service.post('/api/admin/notification-channels/', webhook, headers)).json
  const rule = {
    ...{ name: 'Band', notification_channel_ids: [crew.id], group_ids: [band.id], kinds: ['rf_weak'] },
    when: { days: ['sat'], from: '19:00', to: '23:00', time_zone: 'Europe/Berlin' },
    escalate: { after_seconds: 60, notification_channel_ids: [desk.id] },
  }
  expect((await service.post('/api/admin/notification-rules/', rule, headers)).status).toBe(201)
  return { service, receivers, picture: image, unit, signingSecret: desk.secret as string }
}

describe.each(engines)('export and import on %s', (engine) => {
  // Conformance: C-9.19, C-11.14, C-12.49, C-13.29, C-13.50, C-14.12, C-16.4.
  it(
    'move settings to another machine, where they take effect within a second in a running service',
    async () => {
      const shure = withoutPush(await startShure())
      const source = await createInstallationOn(engine, [configFor(shure)])
      const { service, receivers, picture: image, unit, signingSecret } = await configureService(source)
      const first = (await service.get(`/api/receivers/${receivers[0]?.id}/`)).json
      const second = (await service.get(`/api/receivers/${receivers[1]?.id}/`)).json

      const exported = await source.run(['export'])
      expect([exported.code, exported.err]).toEqual([0, ''])
      expect(exported.out).toMatch(/^# The configuration of an installation/)
      expect(exported.out).not.toContain(shure.config.shared_key)
      const file = parse(exported.out)
      expect(file).toMatchObject({
        version: 1,
        settings: { alert_battery_threshold: 33 },
        manufacturers: [
          { code: 'shure', plugin: 'shure', config: { shared_key: '********' }, settings: { polling_interval: 2 } },
        ],
        locations: [{ name: 'Hall', description: 'The big one', locations: [{ name: 'Rack' }] }],
        groups: [
          {
            title: 'Band',
            slots: [1, 40],
            hide_charts: false,
            manufacturer: 'shure',
            settings: { RF_WEAK_DBM: -80, MUTE_ATTENTION: 'always' },
          },
        ],
        performers: [{ name: 'Ann', notes: 'No: 1 #', picture: image }],
        assignments: [
          {
            performer: 'Ann',
            manufacturer: 'shure',
            serial_number: first.serial_number,
            channel: unit.channel,
            role: 'Nora',
          },
        ],
        placeholders: [{ slot: 50, kind: 'wireless', name: 'Comms', frequency: '1900.125', note: 'Two packs' }],
        shows: [
          { title: 'Rehearsal', starts_at: null, groups: [], started_at: null },
          {
            ...{ title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z', ends_at: '2026-11-23T16:30:00.000Z' },
            ...{ groups: ['Band'], notes: 'Understudy', started_at: expect.any(String), ended_at: null },
          },
        ],
        scenes: [
          {
            show: { title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z' },
            ...{ title: 'Act 1', by: 'local' },
            recalled_at: expect.any(String),
            channels: expect.arrayContaining([
              {
                ...{ manufacturer: 'shure', serial_number: second.serial_number, channel: 2, slot: 40 },
                frequency: second.channels[1].frequency,
                ...{ api_device_id: expect.any(String), mac_address: expect.any(String) },
              },
            ]),
            groups: [{ group: 'Band', title: 'Band', slots: [1, 40] }],
            performers: [{ performer: 'Ann', name: 'Ann' }],
            units: expect.arrayContaining([expect.objectContaining({ performer: 'Ann', role: 'Nora' })]),
          },
        ],
        silences: [
          {
            channels: [{ manufacturer: 'shure', serial_number: second.serial_number, channel: 2 }],
            groups: ['Band'],
            kinds: ['rf_weak'],
            reason: 'Changeover',
            by: 'local',
          },
        ],
        markers: [
          {
            time: '2026-11-22T20:00:00.000Z',
            channel: { manufacturer: 'shure', serial_number: second.serial_number, channel: 2 },
            text: 'Swapped the pack',
            by: 'local',
          },
        ],
        checks: [
          {
            show: { title: 'Rehearsal', starts_at: null },
            channel: { manufacturer: 'shure', serial_number: second.serial_number, channel: 2 },
            ...{
              began_at: expect.any(String),
              time: expect.any(String),
              result: 'fail',
              note: 'Crackles',
              by: 'local',
            },
          },
          { show: { title: 'Rehearsal' }, began_at: expect.any(String), by: 'local' },
        ],
        notification_channels: [
          { name: 'Crew', type: 'ntfy', enabled: true, config: { topic: 'rf', token: '********' } },
          { name: 'Desk', type: 'webhook', enabled: false, config: { url: 'http://10.0.0.9:8000/hook' } },
        ],
        notification_rules: [
          {
            ...{ name: 'Band', notification_channels: ['Crew'], groups: ['Band'], kinds: ['rf_weak'] },
            when: { days: ['sat'], from: '19:00', to: '23:00', time_zone: 'Europe/Berlin' },
            escalate: { after_seconds: 60, notification_channels: ['Desk'] },
          },
        ],
      })
      expect(exported.out).not.toContain(signingSecret)
      const renamedReceiver = file.receivers.find((receiver: { name?: string }) => receiver.name === 'Stage left')
      expect(renamedReceiver).toMatchObject({ serial_number: first.serial_number, location: ['Hall', 'Rack'] })
      const other = file.receivers.find((receiver: { name?: string }) => receiver.name === undefined)
      expect(other).toMatchObject({ serial_number: second.serial_number, slots: { 2: 40 } })
      expect((await source.run(['export', '--json'])).json()).toEqual(file)
      expect((await source.run(['export'])).out).toBe(exported.out)

      const written = await source.run(['export', '--with-secrets', '--output', 'installation.yaml'])
      expect([written.code, written.out]).toEqual([0, ''])
      const path = join(source.path, 'installation.yaml')
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      const content = await readFile(path, 'utf8')
      expect(parse(content).manufacturers[0].config.shared_key).toBe(shure.config.shared_key)
      expect(parse(content).notification_channels).toMatchObject([
        { config: { token: 'tk_1' } },
        { secret: signingSecret },
      ])

      // Importing the file where it was exported changes nothing.
      const same = await source.run(['import', 'installation.yaml', '--json'])
      const counts = Object.values<{ created: number; updated: number }>(same.json().counts)
      expect(counts.every(({ created, updated }) => created + updated === 0)).toBe(true)
      service.kill('SIGTERM')
      await service.ended

      const target = await createInstallationOn(engine)
      await target.write('installation.yaml', content)
      const firstImport = await target.run(['import', 'installation.yaml', '--json'])
      expect(firstImport.json()).toMatchObject({
        dry_run: false,
        counts: {
          manufacturers: { created: 1 },
          settings: { created: 4 },
          locations: { created: 2 },
          groups: { created: 1 },
          performers: { created: 1 },
          receivers: { created: 0, updated: 0 },
          assignments: { created: 0 },
          placeholders: { created: 1 },
          shows: { created: 2 },
          scenes: { created: 1 },
          silences: { created: 0 },
          markers: { created: 0 },
          checks: { created: 0 },
          notification_channels: { created: 2 },
          notification_rules: { created: 1 },
        },
      })
      expect(firstImport.json().unknown).toHaveLength(3)
      expect(firstImport.json().unknown).toContain(`shure ${first.serial_number}`)
      const targetService = await target.serve()
      await until('both receivers are known', async () => (await targetService.receivers()).length === 2)
      const socket = await targetService.socket()
      const dryRun = await target.run(['import', 'installation.yaml', '--dry-run', '--json'])
      expect(dryRun.json()).toMatchObject({ dry_run: true, unknown: [] })
      expect((await targetService.get('/api/assignments/')).json).toEqual([])
      const secondImport = await target.run(['import', '-', '--json'], {}, content)
      expect(secondImport.json()).toEqual({ ...dryRun.json(), dry_run: false })
      expect(secondImport.json().counts).toMatchObject({
        receivers: { updated: 2 },
        assignments: { created: 1 },
        scenes: { updated: 1 },
        silences: { created: 1 },
        markers: { created: 1 },
        checks: { created: 2 },
      })
      const importedAt = performance.now()
      await socket.next(({ type, data }) => type === 'device_update' && data.name === 'Stage left', 3000)
      expect(performance.now() - importedAt).toBeLessThan(timeLimit(1500))
      const receiver = await until('the receiver has its name', async () => {
        const all = await targetService.receivers()
        return all.find(({ name }) => name === 'Stage left')
      })
      const detail = (await targetService.get(`/api/receivers/${receiver.id}/`)).json
      expect(detail.location).toMatchObject({ name: 'Rack' })
      const admin = await target.headers('admin')
      const slots = async () =>
        (await targetService.receivers()).flatMap(({ channels }) => channels.map(({ slot }) => slot))
      expect(await slots()).toContain(40)
      expect(new Set(await slots()).size).toBe(4)
      expect((await targetService.get('/api/admin/movements/', admin)).json).toMatchObject([
        { movement_type: 'location_only', detected_by: 'manual', reason: 'imported' },
      ])
      const audit = (await targetService.get('/api/admin/audit/?action=configuration.', admin)).json
      expect(audit).toHaveLength(2)
      expect(audit[0]).toMatchObject({
        action: 'configuration.import',
        target: 'standard input',
        actor: { kind: 'cli' },
      })
      expect(JSON.stringify(audit)).not.toContain(shure.config.shared_key)
      const reexported = await target.run(['export', '--with-secrets'])
      expect(parse(reexported.out)).toEqual(parse(content))
    },
    slowTestMs,
  )
})

describe.each(engines)('export and import on %s with stored secrets', (engine) => {
  // Conformance: C-9.19.
  it(
    'keep stored secrets where the file contains `********`, reassign slots, and delete nothing',
    async () => {
      const shure = withoutPush(await startShure())
      const installation = await createInstallationOn(engine, [configFor(shure)])
      const { service } = await configureService(installation)
      const file = parse((await installation.run(['export'])).out)
      file.manufacturers[0].name = 'Main Shure'
      // The first channel of one receiver takes the slot of the other receiver's first channel.
      const [first, second] = file.receivers
      const changes = { ...file, groups: [{ title: 'Choir' }], performers: [], locations: [] }
      const takenSlot = second.slots[1]
      changes.receivers = [{ ...first, slots: { 1: takenSlot } }]
      await installation.write('change.json', JSON.stringify(changes))
      const { code, json } = await installation.run(['import', 'change.json', '--json'])
      expect([code, json().counts]).toMatchObject([
        0,
        {
          manufacturers: { updated: 1 },
          groups: { created: 1 },
          receivers: { updated: 1 },
          performers: { created: 0 },
        },
      ])
      const after = parse((await installation.run(['export', '--with-secrets'])).out)
      expect(after.manufacturers[0]).toMatchObject({
        name: 'Main Shure',
        config: { shared_key: shure.config.shared_key },
      })
      expect(after.groups.map(({ title }: { title: string }) => title)).toEqual(['Band', 'Choir'])
      expect(after.performers).toHaveLength(1)
      expect(after.locations).toHaveLength(1)
      const slots = after.receivers.map((receiver: { slots: Record<string, number> }) => receiver.slots)
      expect(slots).toEqual([
        { ...first.slots, 1: takenSlot },
        { ...second.slots, 1: first.slots[1] },
      ])
      await until(
        'the service continues polling',
        async () => (await service.get('/api/health/')).json.status === 'healthy',
      )
    },
    slowTestMs,
  )
})

describe('a file that cannot be imported', () => {
  // Conformance: C-9.19, C-1.19.
  it(
    'is reported in one line with the exit code for wrong usage, and changes nothing',
    async () => {
      const installation = await createInstallation()
      const rejected: readonly (readonly [text: string, reason: string])[] = [
        ['version: 2', 'version: expected 1'],
        ['version: 1\ngroups: [{title: a, manufacturer: acme}]', 'groups.0.manufacturer: expected a manufacturer'],
        ['version: 1\nmanufacturers: [{code: acme}]', 'manufacturers.0.plugin: No plugin found'],
        [
          'version: 1\nmanufacturers: [{code: shure}, {code: shure}]',
          'manufacturers.1.code: expected every code once; shure is repeated',
        ],
        [
          'version: 1\nmanufacturers: [{code: shure, config: {api_base_url: 7}}]',
          'manufacturers.0.config.api_base_url: ',
        ],
        [
          'version: 1\nmanufacturers: [{code: shure, config: {api_base_url: "http://a", username: "b€nutzer"}}]',
          'manufacturers.0.config.username: expected',
        ],
        [
          'version: 1\nmanufacturers: [{code: shure, config: {api_base_url: "http://a", shared_key: "********"}}]',
          'manufacturers.0.config.shared_key: ******** stands for a stored value',
        ],
        ['version: 1\nreceivers: [{manufacturer: shure, slots: {1: 4, 2: 4}}]', 'receivers.0.slots.2: expected every'],
        ['version: 1\nplaceholders: [{slot: 4, kind: wired}]', 'placeholders.0.name: expected text of 1 to 255'],
        [
          'version: 1\nplaceholders: [{slot: 4, kind: blank}]\nreceivers: [{manufacturer: shure, slots: {1: 4}}]',
          'receivers.0.slots.1: expected every slot once; placeholders.0.slot also has slot 4',
        ],
        ['version: 1\nshows: [{title: a, starts_at: tomorrow}]', 'shows.0.starts_at: expected a time such as'],
        ['version: 1\nshows: [{title: a, groups: [Band]}]', 'shows.0.groups.0: expected the title of a group'],
        [
          'version: 1\nshows: [{title: a, starts_at: "2026-05-01T18:00:00Z", ends_at: "2026-05-01T18:00:00Z"}]',
          'shows.0.ends_at: expected a time after starts_at',
        ],
        ['version: 1\ngroups: [{title: "a\\0b"}]', 'groups.0.title: expected text without U+0000'],
        ['version: 1\ngroups: [{title: !secret a}]', 'not valid YAML: Unresolved tag: !secret'],
        [
          'version: 1\nreceivers: [{manufacturer: shure, location: [Moon]}]',
          'receivers.0.location: expected a location',
        ],
        [
          'version: 1\nassignments: [{performer: Bo, manufacturer: shure}]',
          'assignments.0.performer: expected the name',
        ],
      ]
      for (const [text, reason] of rejected) {
        // Entries before the error are not imported either.
        const { code, out, err } = await installation.run(['import', '-'], {}, `${text}\nperformers: [{name: Ann}]\n`)
        expect([text, code, out]).toEqual([text, 2, ''])
        expect(err.trim().split('\n')).toEqual([expect.stringContaining(`micwatch: standard input: ${reason}`)])
      }
      expect((await installation.run(['export', '--json'])).json()).toMatchObject({ manufacturers: [], performers: [] })
    },
    slowTestMs,
  )

  it(
    'is named if it does not exist, and so is a database',
    async () => {
      const installation = await createInstallation()
      const missing = await installation.run(['import', 'nothing.yaml'])
      expect([missing.code, missing.err]).toEqual([2, 'micwatch: nothing.yaml: cannot be read (no such file)\n'])
      for (const args of [['export'], ['nodes'], ['backup', 'file']]) {
        const { code, out, err } = await installation.run(args)
        expect([args[0], code, out]).toEqual([args[0], 1, ''])
        expect(err).toMatch(/^micwatch: There is no database at data\/micwatch.db; .*--data-dir.*\n$/)
      }
      for (const args of [['import'], ['backup'], ['restore'], ['export', 'file'], ['nodes', '--bogus']]) {
        expect((await installation.run(args)).code).toBe(2)
      }
    },
    slowTestMs,
  )
})

// Conformance: C-9.27.
describe('validation of REST requests and imports', () => {
  const text = (length: number) => 'x'.repeat(length)
  const shure = (config: object) => ['manufacturers', '/api/admin/manufacturers/', { code: 'shure', config }] as const
  const group = (fields: object) => ['groups', '/api/group/', { title: 'Choir', ...fields }] as const
  const performer = (fields: object) => ['performers', '/api/performers/', { name: 'Ann', ...fields }] as const
  const placeholder = (fields: object) =>
    ['placeholders', '/api/placeholders/', { slot: 4, kind: 'wired', name: 'DI', ...fields }] as const
  const show = (fields: object) => ['shows', '/api/shows/', { title: 'Matinee', ...fields }] as const
  const location = (fields: object) => ['locations', '/api/admin/locations/', { name: 'Hall', ...fields }] as const

  it.each(engines)('rejects on %s in an import what REST rejects, with the same reason', async (engine) => {
    const app = await startApp({ engine })
    const headers = await tokenHeaders(app.runtime, 'admin')
    const { db, secrets } = app.runtime
    const destinations = createDestinationsExcluding({ host: '127.0.0.1', port: app.port })
    const deps = { db, secrets, destinations, now: Date.now }
    const importText = async (content: string) =>
      importInstallation(deps, actor, parseInstallationFile(content, 'installation.yaml'), {
        isDryRun: false,
        source: 'installation.yaml',
      })
    for (const [kind, path, body] of [
      group({ title: '' }),
      group({ title: text(256) }),
      group({ title: 'a\0b' }),
      group({ slots: [0] }),
      group({ slots: [65_536] }),
      group({ slots: [7, 7] }),
      group({ hide_charts: 'no' }),
      performer({ name: text(256) }),
      performer({ notes: text(4097) }),
      performer({ picture: text(262_145) }),
      location({ name: '' }),
      location({ description: text(2001) }),
      location({ description: '\0' }),
      ['manufacturers', '/api/admin/manufacturers/', { code: 'Shure' }],
      ['manufacturers', '/api/admin/manufacturers/', { code: 'acme' }],
      ['manufacturers', '/api/admin/manufacturers/', { code: 'shure', name: '' }],
      shure({ api_base_url: 7 }),
      shure({ api_base_url: 'http://169.254.169.254' }),
      shure({ api_base_url: 'http://[::ffff:169.254.169.254]' }),
      shure({ api_base_url: 'http://0.0.0.0' }),
      shure({ api_base_url: app.url }),
      shure({ devices: ['tcp://239.1.2.3'] }),
      shure({ devices: [{ url: 'tcp://10.0.0.2', password: 'a\0b' }] }),
      shure({ shared_key: '********' }),
      placeholder({ kind: 'mic' }),
      placeholder({ name: '' }),
      placeholder({ frequency: '470.3' }),
      placeholder({ slot: 0 }),
      show({ title: '' }),
      show({ starts_at: '2026-02-30T10:00:00Z' }),
      show({ starts_at: '2026-05-01T18:00:00Z', ends_at: '2026-05-01T18:00:00Z' }),
    ] as const) {
      const { status, json } = await app.post(path, body, headers)
      expect([kind, body, status]).toEqual([kind, body, 400])
      const rejected = await importText(JSON.stringify({ version: 1, [kind]: [body] })).then(
        () => 'imported',
        (error: Error) => error.message,
      )
      expect(rejected.replace('installation.yaml: ', '')).toBe(`${kind}.0.${json.details}`)
    }
    expect((await importText('version: 1\nmanufacturers: [{code: shure}]')).counts.manufacturers.created).toBe(1)
  })

  it('keeps the start and the end of a known show, and the groups of an ended one', async () => {
    const app = await startApp()
    const { db, secrets, reload } = app.runtime
    const destinations = createDestinationsExcluding({ host: '127.0.0.1', port: app.port })
    const importShows = async (shows: readonly object[]) => {
      const file = parseInstallationFile(JSON.stringify({ version: 1, shows }), 'installation.yaml')
      const options = { isDryRun: false, source: 'installation.yaml' }
      const { counts } = await importInstallation({ db, secrets, destinations, now: Date.now }, actor, file, options)
      await reload()
      return counts.shows
    }
    const band = (await app.post('/api/group/', { title: 'Band' })).json
    const choir = (await app.post('/api/group/', { title: 'Choir' })).json
    const create = async (title: string) =>
      (await app.post('/api/shows/', { title, group_ids: [band.id, choir.id] })).json.id as number
    const [ended, running] = [await create('Matinee'), await create('Evening')]
    for (const id of [ended, running]) await app.post(`/api/shows/${id}/start`, undefined)
    await app.post(`/api/shows/${ended}/end`, undefined)
    await app.send('DELETE', `/api/groups/${choir.id}/`)
    const before = (await app.get('/api/shows/')).json

    const started = { started_at: null, ended_at: null }
    expect(await importShows([{ title: 'Evening', groups: ['Band'], ...started }])).toMatchObject({ unchanged: 1 })
    const changes = [
      { title: 'Matinee', groups: [], notes: 'Sold out', ...started },
      { title: 'Evening', groups: [], ...started },
      { title: 'Evening', starts_at: '2026-05-01T18:00:00Z', started_at: '2026-05-01T18:01:00Z' },
    ]
    expect(await importShows(changes)).toEqual({ created: 1, updated: 2, unchanged: 0 })
    expect((await app.get('/api/shows/')).json).toEqual([
      { ...before[0], notes: 'Sold out' },
      // The removed group stays, because a show without groups has all channels.
      { ...before[1], group_ids: [choir.id] },
      expect.objectContaining({ state: 'running', started_at: '2026-05-01T18:01:00.000Z', group_ids: [] }),
    ])
  })

  it('rejects an invalid time in an import', async () => {
    const app = await startApp()
    const { db, secrets } = app.runtime
    const deps = {
      db,
      secrets,
      destinations: createDestinationsExcluding({ host: '127.0.0.1', port: 1 }),
      now: Date.now,
    }
    const shure = withoutPush(await startShure())
    const pollingApp = await startApp({
      manufacturers: [configFor(shure)],
      databaseUrl: app.databaseUrl,
      dataDir: app.dataDir,
    })
    const units = await until('a unit is known', async () => {
      const { json } = await pollingApp.get('/api/units/')
      return json.length > 0 && json
    })
    const { json: receiver } = await pollingApp.get(`/api/receivers/${units[0].base_chassis}/`)
    const { serial_number } = receiver
    const assignment = { performer: 'Ann', manufacturer: 'shure', serial_number, channel: units[0].channel }
    const file = {
      version: 1,
      performers: [{ name: 'Ann' }],
      assignments: [{ ...assignment, since: '2026-05-01T23:59:60Z' }],
    }
    const installationFile = parseInstallationFile(JSON.stringify(file), 'installation.yaml')
    const imported = importInstallation(deps, actor, installationFile, { isDryRun: false, source: 'installation.yaml' })
    await expect(imported).rejects.toThrow('assignments.0.since: expected a time')
  })
})
