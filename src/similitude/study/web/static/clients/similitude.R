# A study on a server, asked from R: questions and the model are the server's, the display is yours.
# It needs the packages curl and jsonlite, and a token (`similitude study token FOLDER NAME --scope ask --scope read`).
#
#   source("https://study.example/static/clients/similitude.R")
#   study <- similitude_study("https://study.example/s/faces/", token = Sys.getenv("SIMILITUDE_TOKEN"))
#   question <- similitude_ask(study, "P07", consent = TRUE)
#   while (!is.null(question)) {
#     response <- your_display(question$items)                   # for a triplet 1 or 2
#     question <- similitude_tell(study, question, response)
#   }
#   similitude_finish(study, "P07")
#   plot(similitude_model(study)$positions)

# A study; `rehearsal` answers are only a trial, left out of the model and of exports. A study with times (`about$timing`) is
# asked only where your display keeps them, `keeps_times = TRUE`.
similitude_study <- function(url, token, rehearsal = FALSE, keeps_times = FALSE) {
  parts <- regmatches(url, regexec("^(https?://.+?)/s/([^/?#]+)", url, perl = TRUE))[[1]]
  if (length(parts) != 3) stop("url: expected a link such as https://study.example/s/faces/, found ", url)
  study <- list(root = parts[2], name = parts[3], token = token, rehearsal = rehearsal,
                keeps_times = keeps_times)
  study$about <- similitude_request(study, "GET", "about")
  structure(study, class = "similitude_study")
}

print.similitude_study <- function(x, ...) {
  cat(x$about$title, " (", x$about$form, ", ", x$about$length, " questions for each rater)\n", sep = "")
  invisible(x)
}

# The next question for a rater, who may be new; NULL where there is none. `consent`: the person has agreed to take part.
similitude_ask <- function(study, rater, consent = FALSE) {
  similitude_refuse_times(study)
  body <- list(rater = rater, consent = consent, rehearsal = study$rehearsal)
  similitude_next(rater, similitude_request(study, "POST", "ask", body))
}

# Say what was answered; gives the rater's next question, or NULL at the end. The response is coded as the form of the
# study says (numbers from 0 or 1); NULL with an outcome of "cant_tell", "skipped", "timed_out" or "not_shown".
similitude_tell <- function(study, question, response = NULL, milliseconds = NULL,
                            outcome = if (is.null(response)) "cant_tell" else "answered") {
  body <- list(rater = question$rater, number = question$number, uid = similitude_uid(), outcome = outcome,
               rehearsal = study$rehearsal)
  if (!is.null(response)) body$response <- I(as.numeric(response))
  if (!is.null(milliseconds)) body$milliseconds <- as.integer(round(milliseconds))
  similitude_next(question$rater, similitude_request(study, "POST", "tell", body))
}

# Keep the replies to the survey (a named list), and get the completion code.
similitude_finish <- function(study, rater, replies = NULL) {
  body <- list(rater = rater, rehearsal = study$rehearsal)
  if (length(replies)) body$replies <- lapply(replies, as.character)
  similitude_request(study, "POST", "finish", body)
}

# The model as it is now: positions with a row for each item, and all distances as `dist` has them.
similitude_model <- function(study) {
  found <- similitude_request(study, "GET", "model?distances=true")
  as_matrix <- function(rows) matrix(unlist(rows), nrow = length(rows), byrow = TRUE)
  positions <- as_matrix(found$positions)
  rownames(positions) <- unlist(found$items)
  distances <- as_matrix(found$distances)
  dimnames(distances) <- list(rownames(positions), rownames(positions))
  list(version = found$version, positions = positions, distances = stats::as.dist(distances))
}

# The k items most like one, nearest first, with their distances.
similitude_neighbors <- function(study, item, k = 5) {
  path <- paste0("neighbors?k=", k, "&item=", utils::URLencode(item, reserved = TRUE))
  found <- similitude_request(study, "GET", path)$neighbors
  stats::setNames(vapply(found, function(one) one$distance, 0), vapply(found, function(one) one$item, ""))
}

# All answers as a data frame.
similitude_answers <- function(study) {
  utils::read.csv(text = similitude_request(study, "GET", "export?format=csv", raw = TRUE), encoding = "UTF-8")
}

# How far the study is, and how good its model.
similitude_state <- function(study) similitude_request(study, "GET", "state")

# --- what the others are made of ---

similitude_refuse_times <- function(study) {
  times <- Filter(function(value) !is.null(value) && as.numeric(value) > 0, study$about$timing)
  times <- times[names(times) != "record_device"]
  if (length(times) && !study$keeps_times)
    stop("timing: this study asks for ", paste(names(times), times, sep = " = ", collapse = ", "),
         ", which a display must keep; let yours do so, and say keeps_times = TRUE", call. = FALSE)
}

similitude_next <- function(rater, state) {
  if (length(state$questions) == 0) return(NULL)
  question <- state$questions[[1]]
  items <- vapply(question$shown, function(item) item$name, "")
  c(question[c("number", "kind", "shown")], list(rater = rater, items = items, correct = unlist(question$correct)))
}

similitude_uid <- function() paste(format(as.hexmode(as.integer(similitude_bytes(12))), width = 2), collapse = "")

# Random bytes that do not touch the seed of your own experiment.
similitude_bytes <- function(n) {
  kept <- if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv())
  on.exit(if (is.null(kept)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", kept, globalenv()))
  set.seed(NULL)
  sample.int(256, n, replace = TRUE) - 1
}

# One request, sent again while the network or the server is away; an error where it was refused.
similitude_request <- function(study, method, path, body = NULL, raw = FALSE, tries = 30) {
  url <- paste0(study$root, "/api/", study$name, "/v1/", path)
  for (attempt in seq_len(tries)) {
    handle <- curl::new_handle(customrequest = method)
    curl::handle_setheaders(handle, Authorization = paste("Bearer", study$token), "Content-Type" = "application/json")
    if (!is.null(body)) curl::handle_setopt(handle, copypostfields = jsonlite::toJSON(body, auto_unbox = TRUE))
    reply <- tryCatch(curl::curl_fetch_memory(url, handle), error = function(error) NULL)
    if (!is.null(reply) && reply$status_code != 503) break
    if (attempt == tries) stop(path, ": the server could not be reached, ", tries, " times")
    Sys.sleep(0.1 * attempt)
  }
  text <- rawToChar(reply$content)
  Encoding(text) <- "UTF-8"
  if (reply$status_code != 200) stop(path, ": ", reply$status_code, " ", jsonlite::fromJSON(text)$detail)
  if (raw) text else jsonlite::fromJSON(text, simplifyVector = FALSE)
}
