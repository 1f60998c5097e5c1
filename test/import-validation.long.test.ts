/** `import` rejects invalid files and values, and keeps parts of known shows. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'
import type { Actor } from '../src/domain/access/access.ts'
import { configFor, createInstallation, startApp, startShure, until, withoutPush } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { importFile } from './support/installation-files.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const _actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }

describe('a file that cannot be imported', () => {
  // Conformance: C-9.19, C-1.19.
  it('is reported in one line with the exit code for wrong usage, and changes nothing', async () => {
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
      ['version: 1\nreceivers: [{manufacturer: shure, location: [Moon]}]', 'receivers.0.location: expected a location'],
      ['version: 1\nassignments: [{performer: Bo, manufacturer: shure}]', 'assignments.0.performer: expected the name'],
    ]
    for (const [text, reason] of rejected) {
      // Entries before the error are not imported either.
      const { code, out, err } = await installation.run(['import', '-'], {}, `${text}\nperformers: [{name: Ann}]\n`)
      expect([text, code, out]).toEqual([text, 2, ''])
      expect(err.trim().split('\n')).toEqual([expect.stringContaining(`micwatch: standard input: ${reason}`)])
    }
    expect((await installation.run(['export', '--json'])).json()).toMatchObject({ manufacturers: [], performers: [] })
  })

  it('is named if it does not exist, and so is a database', async () => {
    const installation = await createInstallation()
    const missing = await installation.run(['import', 'nothing.yaml'])
    expect([missing.code, missing.err]).toEqual([
      1,
      'micwatch: nothing.yaml does not exist; check the path. micwatch doctor checks everything at once.\n',
    ])
    await writeFile(join(installation.path, 'latin.yaml'), Buffer.from('performers: [{name: J\xf6rg}]', 'latin1'))
    const latin = await installation.run(['import', 'latin.yaml'])
    expect([latin.code, latin.err]).toEqual([
      2,
      expect.stringMatching(/latin\.yaml: line 1 is not UTF-8; save the file/),
    ])
    for (const args of [['export'], ['nodes'], ['backup', 'file']]) {
      const { code, out, err } = await installation.run(args)
      expect([args[0], code, out]).toEqual([args[0], 1, ''])
      expect(err).toMatch(/^micwatch: There is no database at data\/micwatch.db; .*--data-dir.*\n$/)
    }
    for (const args of [['import'], ['backup'], ['restore'], ['export', 'file'], ['nodes', '--bogus']]) {
      expect((await installation.run(args)).code).toBe(2)
    }
  })
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
    const headers = await tokenHeaders(app, 'admin')
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
      placeholder({ name: text(256) }),
      placeholder({ frequency: '470.3' }),
      placeholder({ slot: 0 }),
      show({ title: '' }),
      show({ starts_at: '2026-02-30T10:00:00Z' }),
      show({ starts_at: '2026-05-01T18:00:00Z', ends_at: '2026-05-01T18:00:00Z' }),
    ] as const) {
      const { status, json } = await app.post(path, body, headers)
      expect([kind, body, status]).toEqual([kind, body, 400])
      const rejected = await importFile(app, JSON.stringify({ version: 1, [kind]: [body] })).then(
        () => 'imported',
        (error: Error) => error.message,
      )
      const reason = rejected.replace('installation.yaml: ', '').replace(/ at line \d+, column \d+$/, '')
      expect(reason).toBe(`${kind}.0.${json.details}`)
    }
    expect((await importFile(app, 'version: 1\nmanufacturers: [{code: shure}]')).counts.manufacturers.created).toBe(1)
  })

  it('keeps the start and the end of a known show, and the groups of an ended one', async () => {
    const app = await startApp()
    const importShows = async (shows: readonly object[]) =>
      (await importFile(app, JSON.stringify({ version: 1, shows }))).counts.shows
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
    await eventually(async () => (await app.get('/api/shows/')).json).toEqual([
      { ...before[0], notes: 'Sold out', version: expect.any(Number) },
      // The removed group stays, because a show without groups has all channels.
      { ...before[1], group_ids: [choir.id], version: expect.any(Number) },
      expect.objectContaining({ state: 'running', started_at: '2026-05-01T18:01:00.000Z', group_ids: [] }),
    ])
  })

  it('rejects an invalid time in an import', async () => {
    const app = await startApp()
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
    await expect(importFile(app, JSON.stringify(file))).rejects.toThrow('assignments.0.since: expected a time')
  })
})
