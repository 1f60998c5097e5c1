/** Checks workflows with GitHub's own language service, and their shell scripts with ShellCheck. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { parse } from 'yaml'
import { installNpmTools } from './npm-tools.ts'
import { lintShell } from './shell.ts'

/** The part of the language service that is used. Lines start at 0. */
interface LanguageService {
  validate(document: unknown, config: object): Promise<readonly Diagnostic[]>
  readonly TextDocument: { create(uri: string, language: string, version: number, text: string): unknown }
}
interface Diagnostic {
  readonly message: string
  readonly range: { readonly start: { readonly line: number } }
}

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>
}
interface Job {
  readonly defaults?: { readonly run?: { readonly shell?: string } }
  readonly steps?: readonly { readonly name?: string; readonly run?: string; readonly shell?: string }[]
}

/** Returns the problems of a workflow, one a line. */
export async function lintWorkflow(path: string): Promise<string[]> {
  const text = readFileSync(path, 'utf8')
  const problems = [...findUnpinned(path, text), ...(await validate(path, text))]
  if (problems.length > 0) return problems
  const { jobs } = parse(text) as Workflow
  const scripts = Object.entries(jobs).flatMap(([job, { defaults, steps = [] }]) =>
    steps
      .filter(({ shell = defaults?.run?.shell ?? 'bash' }) => shell === 'bash')
      .flatMap(({ run }, index) => (run === undefined ? [] : [{ name: `${path}: ${job}, step ${index + 1}`, run }])),
  )
  const results = await Promise.all(scripts.map(({ name, run }) => lintRun(name, run)))
  return results.flat()
}

/** The owner of an action can move its tags to other code. */
function findUnpinned(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const isPinned = /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)
    return /^[\s-]*uses:/.test(line) && !isPinned
      ? [`${path}:${index + 1}: pin the action to a commit, with the version as a comment`]
      : []
  })
}

async function validate(path: string, text: string): Promise<string[]> {
  const { validate, TextDocument } = loadLanguageService()
  const problems = await validate(TextDocument.create(`file:///${path}`, 'yaml', 0, text), {})
  return problems.map(({ message, range }) => `${path}:${range.start.line + 1}: ${message}`)
}

/** Node.js cannot import the modules of the package as they are, because they import JSON without an attribute. */
function loadLanguageService(): LanguageService {
  const folder = join(installNpmTools('@actions/languageservice@0.3.61'), '..')
  const outfile = join(folder, 'bundled.cjs')
  const exported = ['@actions/languageservice', 'vscode-languageserver-textdocument']
  const contents = exported.map((name) => `export * from '${name}'\n`).join('')
  buildSync({ stdin: { contents, resolveDir: folder }, outfile, bundle: true, platform: 'node', format: 'cjs' })
  return createRequire(outfile)(outfile)
}

async function lintRun(name: string, run: string): Promise<string[]> {
  // GitHub inserts the value into the script, where a shell may execute it.
  if (run.includes('${{')) return [`${name}: pass the expression through env`]
  // As GitHub runs it.
  return lintShell(name, `set -e; ${run}`, 'bash')
}
