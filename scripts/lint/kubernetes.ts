/** Compares Kubernetes resources with the types of the Kubernetes API, which rejects unknown and missing fields. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { installNpmTools } from './npm-tools.ts'

export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

/** Returns the resources in YAML documents. */
export function parseResources(text: string): readonly Resource[] {
  const documents = parseAllDocuments(text)
  return documents.flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.contents === null ? [] : [document.toJS() as Resource]
  })
}

/** Returns the problems of resources, one a line. */
export function lintResources(name: string, resources: readonly Resource[]): string[] {
  const modules = installNpmTools('kubernetes-models@5.1.0', '@kubernetes-models/prometheus-operator@6.0.0')
  const folder = mkdtempSync(join(dirname(modules), 'resources-'))
  try {
    writeFileSync(join(folder, 'resources.ts'), resources.map(toDeclaration).join(''))
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
      '--pretty',
      'false',
      '--ignoreConfig',
    ]
    const args = [join(dirname(compiler), 'bin/tsc'), ...flags, 'resources.ts']
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, number, message = line] = /^resources\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? []
        const resource = resources[Number(number) - 1]
        return `${name}: ${resource === undefined ? '' : `${resource.kind} ${resource.metadata.name}: `}${message}`
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One line a resource, so that the line of an error names it. */
function toDeclaration({ apiVersion, kind, ...rest }: Resource, index: number): string {
  const module = apiVersion.startsWith('monitoring.coreos.com/')
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`
  const value = JSON.stringify({ apiVersion, kind, ...rest })
  return `export const r${index}: import('${module}').I${kind} = ${value}\n`
}
