import { expect, it } from 'vitest'
import { missingMigrations } from './migrate.ts'
import { version110 } from './migrations/1.1.0.ts'
import { migrationNames as names } from './migrations/index.ts'

it('names of migrations are unique and begin with a UTC time, except the first thirteen', () => {
  expect(new Set(names).size).toBe(names.length)
  expect(names[12]).toBe('0013-device-errors')
  for (const name of names.slice(13)) expect(name).toMatch(/^\d{8}T\d{4}Z-[a-z-]+$/)
})

it('missingMigrations returns a migration that was merged after a later one had been applied', () => {
  const [first] = version110
  const applied = names.filter((name) => !first?.names.includes(name))
  expect(missingMigrations(applied)).toEqual([first])
})

it('missingMigrations refuses a database that has a part of a release', () => {
  const applied = names.slice(0, 14)
  expect(() => missingMigrations(applied)).toThrow('it lacks migration 20261123T0624Z-assignment-roles')
})
