import { expect, it } from 'vitest'
import { missingMigrations } from './migrate.ts'
import { migrations } from './migrations/index.ts'

const names = migrations.map(({ name }) => name)

it('names of migrations are unique and begin with a UTC time, except the first thirteen', () => {
  expect(new Set(names).size).toBe(names.length)
  expect(names[12]).toBe('0013-device-errors')
  for (const name of names.slice(13)) expect(name).toMatch(/^\d{8}T\d{4}Z-[a-z-]+$/)
})

it('missingMigrations returns a migration that was merged after a later one had been applied', () => {
  const [first = '', second = '', ...others] = names
  expect(missingMigrations([first, ...others]).map(({ name }) => name)).toEqual([second])
})
