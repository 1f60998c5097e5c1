/** Sentences about failures, and the status that Companion displays for each. */

import { InstanceStatus } from '@companion-module/base'

export interface Problem {
  readonly status: InstanceStatus
  readonly message: string
}

/** A failure that the user can do something about. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

export interface FailedResponse {
  readonly status: number
  /** The message in the response; empty if it contains none. */
  readonly message: string
}

/** Describes a response that is no success. */
export function describeResponse({ status, message }: FailedResponse, url: string, hasToken: boolean): Problem {
  const reason = message === '' ? `it responded with status ${status}` : message
  switch (status) {
    case 401:
      return {
        status: InstanceStatus.AuthenticationFailure,
        message: hasToken
          ? 'Micwatch does not accept the token: it was revoked, has expired or is incomplete. Create a new one under Admin, Tokens.'
          : 'Micwatch requires a token. Create one under Admin, Tokens, and enter it in the configuration of this connection.',
      }
    case 403:
      return {
        status: InstanceStatus.InsufficientPermissions,
        message: `The token is not permitted to do this (${reason}). Actions need a token with the role operator.`,
      }
    case 400:
      return { status: InstanceStatus.BadConfig, message: `Micwatch rejected the request: ${reason}` }
    case 503:
      return { status: InstanceStatus.ConnectionFailure, message: `Micwatch is not available at present: ${reason}` }
    default:
      return {
        status: InstanceStatus.ConnectionFailure,
        message: `There is no Micwatch at ${url}: it responded with status ${status}. Check the address.`,
      }
  }
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/

/** Describes an error of the network. */
export function describeError(error: unknown, url: string): Problem {
  if (error instanceof ProblemError) return error.problem
  const { host } = new URL(url)
  return { status: InstanceStatus.ConnectionFailure, message: networkSentence(codeOf(error), host, error) }
}

function networkSentence(code: string, host: string, error: unknown): string {
  if (code === 'ECONNREFUSED') {
    return `Connection refused by ${host}. Check that Micwatch is running and that the address is correct.`
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The name in ${host} was not found. Check the address.`
  if (certificateCodes.test(code)) {
    return `The certificate of ${host} is not trusted (${code}). If it is self-signed, enable "Accept any certificate".`
  }
  if (/TIMEDOUT|TIMEOUT|UNREACH|ABORT/i.test(code)) {
    return `No response from ${host}. Check the address and the network.`
  }
  return `Connection to ${host} failed: ${error instanceof Error ? error.message : String(error)}.`
}

/** Returns the code of the error or of its cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error.cause !== undefined) return codeOf(error.cause)
  return /timed out|timeout/i.test(error.message) ? 'TIMEOUT' : ''
}
