import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readSource } from './source.ts'

const sources = fileURLToPath(new URL('..', import.meta.url))
const archived = 'scripts/archived-commit.txt'
let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'micwatch-source-'))
  await mkdir(join(root, 'scripts'))
  for (const name of ['.gitattributes', archived]) await copyFile(join(sources, name), join(root, name))
  git('init', '--quiet')
  await commitVersion('1.0.0')
})
afterEach(() => rm(root, { recursive: true, force: true }))

function git(...args: string[]): string {
  const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
  const env = { ...process.env, GIT_COMMITTER_DATE: '2026-03-01T12:00:00Z' }
  return execFileSync('git', [...author, ...args], { cwd: root, env, encoding: 'utf8' }).trim()
}

async function commitVersion(version: string): Promise<void> {
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'micwatch', version }, null, 2))
  git('add', '--all')
  git('commit', '--quiet', '--message', 'version')
}

const commit = () => git('commit', '--quiet', '--allow-empty', '--message', 'change')

/** Unpacks an archive of the commit inside the repository, and returns its folder. */
async function unpackArchive(): Promise<string> {
  const folder = join(root, 'unpacked')
  await mkdir(folder)
  execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C unpacked'], { cwd: root })
  return folder
}

it('a commit without a tag is a release if it sets the version; later ones count from it', () => {
  const date = new Date('2026-03-01T12:00:00Z')
  expect(readSource(root)).toEqual({ version: '1.0.0', commit: git('rev-parse', 'HEAD'), date, projectUrl: null })
  commit()
  commit()
  expect(readSource(root)).toEqual({ version: '1.0.1~dev2', commit: git('rev-parse', 'HEAD'), date, projectUrl: null })
})

it('with a tag, commits count from it', async () => {
  commit()
  git('tag', 'v1.0.0')
  expect(readSource(root).version).toBe('1.0.0')
  commit()
  expect(readSource(root).version).toBe('1.0.1~dev1')
  await commitVersion('1.1.0')
  expect(readSource(root).version).toBe('1.1.0')
})

it('an archive has the version, the commit and the time of the repository', async () => {
  git('tag', 'v1.0.0')
  commit()
  expect(readSource(await unpackArchive())).toEqual(readSource(root))
})

it('an archive without a tag is newer than the release, because its distance is unknown', async () => {
  expect(readSource(await unpackArchive())).toEqual({ ...readSource(root), version: '1.0.1~dev0' })
})

it('sources without git that are no archive have no commit, and the time of SOURCE_DATE_EPOCH or 1980', async () => {
  await rm(join(root, '.git'), { recursive: true })
  const plain = { version: '1.0.0', commit: null, projectUrl: null }
  expect(readSource(root)).toEqual({ ...plain, date: new Date('1980-01-01T00:00:00Z') })
  vi.stubEnv('SOURCE_DATE_EPOCH', '1772366400')
  expect(readSource(root)).toEqual({ ...plain, date: new Date('2026-03-01T12:00:00Z') })
  vi.stubEnv('SOURCE_DATE_EPOCH', 'yesterday')
  expect(() => readSource(root)).toThrow('SOURCE_DATE_EPOCH must be in seconds since 1970, not "yesterday".')
  vi.unstubAllEnvs()
})

// Conformance: C-24.63.
it('names the project in PROJECT_URL, and accepts only an address with https', () => {
  vi.stubEnv('PROJECT_URL', 'https://git.example/crew/micwatch/')
  expect(readSource(root).projectUrl).toBe('https://git.example/crew/micwatch')
  vi.stubEnv('PROJECT_URL', 'http://git.example/crew/micwatch')
  expect(() => readSource(root)).toThrow('PROJECT_URL must begin with https://')
  vi.unstubAllEnvs()
})
