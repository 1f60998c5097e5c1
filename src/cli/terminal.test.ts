import { expect, test } from 'vitest'
import { installationFlags } from './terminal.ts'

test.each([
  [{}, ''],
  [{ host: '0.0.0.0', port: '80', json: true }, ''],
  [{ config: 'a.yaml', dataDir: '/srv/mic-1' }, ' --config a.yaml --data-dir /srv/mic-1'],
  [{ dataDir: "the venue's $HOME" }, ` --data-dir 'the venue'\\''s $HOME'`],
  [{ databaseUrl: 'sqlite:/srv/a b.db' }, " --database-url 'sqlite:/srv/a b.db'"],
  [{ databaseUrl: 'postgres://mic@db/venue' }, ' --database-url postgres://mic@db/venue'],
  [{ databaseUrl: 'postgres://mic:s3cret@db/venue' }, ' --database-url postgres://mic:PASSWORD@db/venue'],
])('formats the options %o as the flags:%s', (options, flags) => {
  expect(installationFlags(options, {})).toBe(flags)
})

test('includes values from the environment, which flags override', () => {
  const env = {
    MICWATCH_CONFIG: '/etc/micwatch.yaml',
    MICWATCH_DATA_DIR: '/var/lib/micwatch',
    MICWATCH_DATABASE_URL: '',
  }
  expect(installationFlags({}, env)).toBe(' --config /etc/micwatch.yaml --data-dir /var/lib/micwatch')
  expect(installationFlags({ dataDir: '/srv' }, env)).toBe(' --config /etc/micwatch.yaml --data-dir /srv')
})
