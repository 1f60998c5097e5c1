/** The result of a check, and its time limit. */

export interface Check {
  readonly name: string
  /** Null if undetermined. */
  readonly ok: boolean | null
  /** The finding, and for a problem the action to take. */
  readonly message: string
}

export type Finding = Omit<Check, 'name'>

export const passed = (message: string): Finding => ({ ok: true, message })
export const failed = (message: string): Finding => ({ ok: false, message })
export const undetermined = (message: string): Finding => ({ ok: null, message })

/** The time limit of one check. */
const checkLimitMs = 5_500

/**
 * Runs a check, which returns null if it does not apply here. It is undetermined if it takes too long or throws. The
 * list is empty if the check does not apply.
 */
export async function runCheck(name: string, run: () => Finding | null | Promise<Finding | null>): Promise<Check[]> {
  try {
    const finding = await within(checkLimitMs, run())
    return finding === null ? [] : [{ name, ...finding }]
  } catch (error) {
    return [{ name, ...undetermined(`This could not be checked: ${reasonOf(error)}`) }]
  }
}

/** Rejects if the promise is not settled in time. */
export async function within<T>(ms: number, promise: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export const asServiceUser =
  'Run this command as root or as the user of the service, for example: sudo -u micwatch micwatch doctor'

/** Also examines the causes of the error. */
export function isAccessDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && (error.code === 'EACCES' || error.code === 'EPERM')) || isAccessDenied(error.cause)
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
