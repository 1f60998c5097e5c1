import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestFolder, engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { openSecrets } from './secrets.ts'
import { listManufacturers, type Manufacturer, saveManufacturer } from './settings.ts'

const shure: Manufacturer = {
  code: 'shure',
  name: 'Shure',
  plugin: 'shure',
  api_enabled: true,
  config: {
    api_base_url: 'https://10.0.0.1',
    shared_key: 'very-secret-1',
    timeout: 10,
    auth_header: true,
    websocket_url: null,
    devices: [{ url: 'https://10.0.0.2', PASSWORD: 'very-secret-2' }, 'tcp://10.0.0.3'],
    nested: { api_key: ['very-secret-3', { $sealed: 'very-secret-4' }, 5], $sealed: 'plain' },
    token: null,
  },
}

describe('the key file', () => {
  // Conformance: C-6.20.
  // Reliability: 3.8.2.
  test('is created once, readable by its owner only', async () => {
    const dir = await testFolder()
    const sealed = (await openSecrets(dir)).seal('text', 'shure')
    const key = await readFile(join(dir, 'secret.key'), 'utf8')
    expect(key).toMatch(/^[0-9a-f]{64}\n$/)
    expect((await stat(join(dir, 'secret.key'))).mode & 0o777).toBe(0o600)
    expect((await openSecrets(dir)).open(sealed, 'shure')).toBe('text')
    expect(await readFile(join(dir, 'secret.key'), 'utf8')).toBe(key)
  })

  test('is the same for all processes that start together', async () => {
    const dir = await testFolder()
    const opened = await Promise.all(Array.from({ length: 20 }, () => openSecrets(join(dir, 'new'))))
    const sealed = opened[0]?.seal('text', 'shure') ?? ''
    for (const secrets of opened) expect(secrets.open(sealed, 'shure')).toBe('text')
    expect(await readdir(join(dir, 'new'))).toEqual(['secret.key'])
  })

  test('is not needed if the configuration has the key', async () => {
    const dir = await testFolder()
    const sealed = (await openSecrets(dir, 'ab'.repeat(32))).seal('text', 'shure')
    expect((await openSecrets(join(dir, 'other'), 'AB'.repeat(32))).open(sealed, 'shure')).toBe('text')
    expect(await readdir(dir)).toEqual([])
  })

  // Reliability: 3.8.2.
  test('is rejected when others can read it or it is damaged', async () => {
    const dir = await testFolder()
    const path = join(dir, 'secret.key')
    await openSecrets(dir)
    await chmod(path, 0o640)
    await expect(openSecrets(dir)).rejects.toThrow(`${path} can be read by other users`)
    await chmod(path, 0o600)
    await writeFile(path, 'not a key')
    await expect(openSecrets(dir)).rejects.toThrow(`${path} is damaged`)
  })
})

describe('encryption', () => {
  // Reliability: 3.8.2.
  test('decrypts with the same key and context only, and has a different ciphertext every time', async () => {
    const secrets = await openSecrets(await testFolder())
    const sealed = secrets.seal('Größe 🎤', 'shure')
    expect(secrets.open(sealed, 'shure')).toBe('Größe 🎤')
    expect(secrets.seal('Größe 🎤', 'shure')).not.toBe(sealed)
    expect(() => secrets.open(sealed, 'sennheiser')).toThrow()
    expect(() => secrets.open(`${sealed.slice(0, -4)}AAAA`, 'shure')).toThrow()
    expect(() => secrets.open('', 'shure')).toThrow()
    const others = await openSecrets(await testFolder())
    expect(() => others.open(sealed, 'shure')).toThrow()
  })

  test('keeps the shape of a configuration and encrypts every secret in it', async () => {
    const secrets = await openSecrets(await testFolder())
    const sealed = secrets.sealConfig(shure.config, 'shure')
    expect(JSON.stringify(sealed)).not.toContain('very-secret')
    expect(sealed).toMatchObject({
      api_base_url: 'https://10.0.0.1',
      timeout: 10,
      auth_header: true,
      devices: [{ url: 'https://10.0.0.2' }, 'tcp://10.0.0.3'],
      nested: { $sealed: 'plain' },
    })
    expect(secrets.openConfig(sealed, 'shure')).toEqual({ config: shure.config, isUnreadable: false })
  })
})

describe.each(engines)('manufacturers on %s', (engine) => {
  test('are inserted and updated with encrypted secrets', async () => {
    const db = await openStore(engine)
    const secrets = await openSecrets(await testFolder())
    await db.transaction((tx) => saveManufacturer(tx, secrets, shure))
    const [sennheiser, stored] = await listManufacturers(db.read, secrets)
    expect(sennheiser).toMatchObject({ code: 'sennheiser', config: {}, secretsUnreadable: false })
    expect(stored).toEqual({ ...shure, secretsUnreadable: false, version: expect.any(Number) })
    const row = await db.read
      .selectFrom('manufacturers')
      .select('config')
      .where('code', '=', 'shure')
      .executeTakeFirst()
    expect(row?.config).not.toContain('very-secret')

    const disabled = { ...shure, name: 'Shure 2', api_enabled: false, config: { token: 'other' } }
    await db.transaction((tx) => saveManufacturer(tx, secrets, disabled))
    expect((await listManufacturers(db.read, secrets))[1]).toEqual({
      ...disabled,
      secretsUnreadable: false,
      version: expect.any(Number),
    })
  })

  // Reliability: 3.8.3.
  test('whose secrets were encrypted with another key have a flag and null secrets; stored values stay until replaced', async () => {
    const db = await openStore(engine)
    const right = await openSecrets(await testFolder())
    const wrong = await openSecrets(await testFolder())
    await db.transaction((tx) => saveManufacturer(tx, right, shure))
    const [, unreadable] = await listManufacturers(db.read, wrong)
    expect(unreadable).toMatchObject({
      secretsUnreadable: true,
      config: {
        shared_key: null,
        devices: [{ url: 'https://10.0.0.2', PASSWORD: null }, 'tcp://10.0.0.3'],
        timeout: 10,
      },
    })
    if (unreadable === undefined) return

    const renamed = { ...unreadable, name: 'Renamed', config: { ...unreadable.config, timeout: 20 } }
    await db.transaction((tx) => saveManufacturer(tx, wrong, renamed))
    const [, kept] = await listManufacturers(db.read, right)
    expect(kept).toMatchObject({ name: 'Renamed', secretsUnreadable: false, config: { ...shure.config, timeout: 20 } })

    const entered = { ...renamed, config: { ...renamed.config, shared_key: 'entered again' } }
    await db.transaction((tx) => saveManufacturer(tx, wrong, entered))
    const [, mixed] = await listManufacturers(db.read, wrong)
    expect(mixed).toMatchObject({ secretsUnreadable: true, config: { shared_key: 'entered again' } })
  })
})

// Conformance: C-6.20.
// Reliability: 1.16.
test('manufacturers have no plain secret in the database file', async () => {
  const db = await openStore('sqlite')
  const secrets = await openSecrets(await testFolder())
  await db.transaction((tx) => saveManufacturer(tx, secrets, shure))
  const path = db.url.slice('sqlite:'.length)
  for (const file of [path, `${path}-wal`]) expect((await readFile(file)).includes('very-secret')).toBe(false)
})

async function testFolder(): Promise<string> {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  return path
}
