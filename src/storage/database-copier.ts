/** Copies a SQLite database in a child process, because copying blocks the process for seconds. */

import { copySqlite } from './sqlite-file.ts'

const [, , from = '', to = ''] = process.argv
void copySqlite(from, to, { overwrite: true, owner: 'process' })
  .then(() => ({ fault: null }))
  .catch(({ message, cause = {} }) => {
    const { code, errcode } = cause as { readonly code?: string; readonly errcode?: number }
    return { fault: { message, code, errcode } }
  })
  .then((result) => process.send?.(result, () => process.disconnect()))
