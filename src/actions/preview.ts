import type { Service } from '../service.ts'
import type { Tx } from '../storage/database.ts'

/** Rolls back the transaction of a preview. */
class PreviewRollback extends Error {
  override readonly name = 'PreviewRollback'
  readonly result: unknown

  constructor(result: unknown) {
    super()
    this.result = result
  }
}

/** Runs an action in a transaction, and returns its result. For a preview, the transaction is rolled back. */
export async function changeOrPreview<T>(
  service: Service,
  isPreview: boolean,
  work: (tx: Tx, revision: number) => Promise<T>,
): Promise<T> {
  try {
    const changed = await service.ingest.change(async (tx, revision) => {
      const result = await work(tx, revision)
      if (isPreview) throw new PreviewRollback(result)
      return result
    })
    await service.reload()
    return changed
  } catch (error) {
    if (error instanceof PreviewRollback) return error.result as T
    throw error
  }
}
