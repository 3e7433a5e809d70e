/** The error of all calls that fail, and the statuses of FMI 2.0. */

export const STATUS = ["ok", "warning", "discard", "error", "fatal", "pending"];
export const DISCARD = 2; // from this status on a call has failed
export const ERROR = 3;

/** What an FMU, or the file that should be one, has refused. status: "discard" (a step), "error" or "fatal". */
export class FmuError extends Error {
  constructor(message, status = "error") {
    super(message);
    this.name = "FmuError";
    this.status = status;
  }
}
