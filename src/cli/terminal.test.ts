import { expect, test } from 'vitest'
import { houseFlags } from './terminal.ts'

test.each([
  [{}, ''],
  [{ host: '0.0.0.0', port: '80', json: true }, ''],
  [{ config: 'a.yaml', dataDir: '/srv/mic-1' }, ' --config a.yaml --data-dir /srv/mic-1'],
  [{ dataDir: "the venue's $HOME" }, ` --data-dir 'the venue'\\''s $HOME'`],
  [{ dataDir: '' }, " --data-dir ''"],
  [{ databaseUrl: 'sqlite:/srv/a b.db' }, " --database-url 'sqlite:/srv/a b.db'"],
  [{ databaseUrl: 'postgres://mic@db/house' }, ' --database-url postgres://mic@db/house'],
  [{ databaseUrl: 'postgres://mic:s3cret@db/house' }, ' --database-url postgres://mic:PASSWORD@db/house'],
])('the house of %o is named%s', (options, flags) => {
  expect(houseFlags(options)).toBe(flags)
})
