/** The service's limit for one request. */
export const maxChannels = 100
