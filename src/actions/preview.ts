/** Previews: an action runs in its transaction, which is then rolled back. */

/** Thrown at the end of the transaction of a preview. */
export class PreviewRollback extends Error {
  override readonly name = 'PreviewRollback'
}

/** Runs a transaction that may end with a `PreviewRollback`. */
export async function runPreviewable(transaction: () => Promise<unknown>): Promise<void> {
  try {
    await transaction()
  } catch (error) {
    if (!(error instanceof PreviewRollback)) throw error
  }
}
